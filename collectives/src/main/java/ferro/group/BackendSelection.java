package ferro.group;

import ferro.Backend;
import ferro.spi.BackendProvider;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.stream.Collectors;

/**
 * Finds the back ends on the path and opens the one that {@code ferro.backend} names: a name, or {@code auto} for the usable
 * one of highest priority. A name that cannot work is fatal and never replaced; every message lists all providers with
 * their reasons.
 */
final class BackendSelection {
    private static final String AUTO = "auto";

    private BackendSelection() {}

    /** Reads who this process is: {@code ferro.rank} and {@code ferro.world.size}, else {@code RANK} and {@code WORLD_SIZE}. */
    static GroupSpec specOf(RankContext context) {
        Optional<Integer> rank = Settings.RANK.find(context).or(() -> Settings.ENV_RANK.find(context));
        Optional<Integer> size = Settings.WORLD_SIZE.find(context).or(() -> Settings.ENV_WORLD_SIZE.find(context));
        if (rank.isEmpty() || size.isEmpty()) {
            throw new IllegalArgumentException("this process does not know its "
                    + (rank.isEmpty() ? "rank (RANK or -Dferro.rank)" : "world size (WORLD_SIZE or -Dferro.world.size)")
                    + ": start it with ./ferro run -n 2 PROGRAM, or set RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT");
        }
        return new GroupSpec("world", rank.get(), size.get(), Settings.TIMEOUT.of(context));
    }

    static Backend open(GroupSpec group, RankContext context) {
        return open(group, context, candidates(context));
    }

    static Backend open(GroupSpec group, RankContext context, List<BackendCandidate> found) {
        String wanted = Settings.BACKEND.of(context);
        BackendCandidate chosen = wanted.equals(AUTO) ? best(found) : named(wanted, found);
        RankContext joining = new JoiningContext(group, context);
        return chosen.provider().create(group, joining);
    }

    /** Loads every provider; one that is broken becomes a candidate with its reason and hides no other. */
    static List<BackendCandidate> candidates(RankContext context) {
        List<BackendCandidate> found = new ArrayList<>();
        var providers = ServiceLoader.load(BackendProvider.class).stream().iterator();
        while (true) {
            try {
                if (!providers.hasNext()) {
                    break;
                }
                ServiceLoader.Provider<BackendProvider> next = providers.next();
                found.add(BackendCandidate.of(next.type().getSimpleName(), next, context));
            } catch (ServiceConfigurationError | LinkageError broken) {
                found.add(BackendCandidate.broken("(unreadable provider)", broken));
            }
        }
        found.sort(
                Comparator.comparingInt(BackendCandidate::priority).reversed().thenComparing(BackendCandidate::name));
        return found;
    }

    private static BackendCandidate best(List<BackendCandidate> found) {
        return found.stream()
                .filter(candidate ->
                        candidate.priority() >= 0 && candidate.unavailable().isEmpty())
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no usable back end for -Dferro.backend=auto; found: "
                        + list(found) + ": add ferro-backend-tcp to the class path, or name a back end"));
    }

    private static BackendCandidate named(String wanted, List<BackendCandidate> found) {
        BackendCandidate chosen = found.stream()
                .filter(candidate -> candidate.name().equals(wanted))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no back end named -Dferro.backend=" + wanted
                        + "; found: " + list(found) + ": use one of these names, or add the jar that has it"));
        if (chosen.unavailable().isPresent()) {
            throw new IllegalArgumentException(
                    "no usable back end for -Dferro.backend=" + wanted + "; found: " + list(found));
        }
        return chosen;
    }

    private static String list(List<BackendCandidate> found) {
        return found.isEmpty()
                ? "none"
                : found.stream()
                        .map(candidate -> candidate.name() + " ("
                                + candidate.unavailable().orElse("usable") + ")")
                        .collect(Collectors.joining(", "));
    }
}
