package ferro.job;

import ferro.job.LauncherFamilies.LauncherCandidate;
import ferro.spi.RankContext;
import ferro.spi.Setting;
import ferro.spi.Settings;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Finds the job of this process in its environment. The finder chooses the first family, in the order of
 * {@link LauncherKind}, whose variables are complete.
 *
 * <p>Variables of outer launchers may be set too: mpirun, for example, passes the variables of a Slurm step to its
 * ranks. Variables of outer launchers are no contradiction. If neither of two launchers can run inside the other and
 * their ranks differ, both are refused, and the message names both.
 */
public final class JobFinder {
    private JobFinder() {}

    /**
     * Finds the job of a rank from its context.
     *
     * @param context variables and settings of the rank; if the context has no
     *     {@linkplain RankContext#variables() variables}, only the settings of ferro are read
     * @return job or refusal; this method never throws an exception for the values of variables
     */
    public static JobVariables of(RankContext context) {
        Map<String, String> settings = new HashMap<>(context.variables());
        // these properties are read by name and take precedence over the variables
        List<Setting<?>> asked = settings.isEmpty() ? Settings.all() : List.of(Settings.RANK, Settings.WORLD_SIZE);
        for (Setting<?> setting : asked) {
            Optional<String> text = context.setting(setting.name());
            if (text.isPresent()) {
                settings.put(setting.name(), text.get());
            }
        }
        return find(settings, HostFacts.ofThisHost());
    }

    /**
     * Finds a job.
     *
     * @param settings variables, and the properties {@code ferro.rank} and {@code ferro.world.size}
     * @param around   facts that variables do not give; only a family that needs such facts reads them
     * @return job or refusal; this method never throws an exception for the values of variables
     */
    public static JobVariables find(Map<String, String> settings, HostFacts around) {
        Variables variables = new Variables(Map.copyOf(Objects.requireNonNull(settings, "settings")));
        Objects.requireNonNull(around, "around");
        LauncherFamilies families = new LauncherFamilies(variables, around);
        List<LauncherCandidate> found = families.found();
        Optional<LauncherCandidate> chosen = firstComplete(found);
        Optional<String> refusal = refusal(found, chosen, around);
        if (refusal.isPresent()) {
            return new JobVariables(Optional.empty(), sightings(found, Optional.empty()), refusal, "");
        }
        try {
            RankOfJob job = new Generation(variables).of(families.job(chosen.get()));
            return new JobVariables(Optional.of(job), sightings(found, chosen), Optional.empty(), line(job, found));
        } catch (IllegalArgumentException senseless) {
            return new JobVariables(
                    Optional.empty(), sightings(found, chosen), Optional.of(senseless.getMessage()), "");
        }
    }

    private static Optional<LauncherCandidate> firstComplete(List<LauncherCandidate> found) {
        for (LauncherCandidate one : found) {
            if (one.isComplete()) {
                return Optional.of(one);
            }
        }
        return Optional.empty();
    }

    private static Optional<String> refusal(
            List<LauncherCandidate> found, Optional<LauncherCandidate> chosen, HostFacts around) {
        for (LauncherCandidate one : found) {
            if (one.family() == LauncherKind.GIVEN && !one.isComplete()) {
                return one.incomplete();
            }
        }
        return chosen.isPresent() ? Contradiction.find(chosen.get(), found, around) : Optional.of(unknown(found));
    }

    private static String unknown(List<LauncherCandidate> found) {
        return found.isEmpty()
                ? "this process does not know its rank: start it with a launcher (ferro run -n 2 PROGRAM, mpirun, srun),"
                        + " or give every process -D" + Settings.RANK.name() + ", -D" + Settings.WORLD_SIZE.name()
                        + " and -D" + Settings.RENDEZVOUS.name()
                        + "=tcp://HOST:PORT, or the variables RANK, WORLD_SIZE,"
                        + " MASTER_ADDR and MASTER_PORT (docs/launchers/README.md)"
                : "this process does not know its rank: "
                        + found.stream()
                                .map(one -> one.incomplete().orElseThrow())
                                .collect(Collectors.joining("; "));
    }

    private static List<DetectedLauncher> sightings(List<LauncherCandidate> found, Optional<LauncherCandidate> chosen) {
        List<DetectedLauncher> sightings = new ArrayList<>();
        if (chosen.isPresent()) {
            sightings.add(sighting(chosen.get(), chosen));
        }
        for (LauncherCandidate one : found) {
            // no equals: a record builds it at its first use, which would delay every rank when it joins
            if (one != chosen.orElse(null)) {
                sightings.add(sighting(one, chosen));
            }
        }
        return sightings;
    }

    private static DetectedLauncher sighting(LauncherCandidate one, Optional<LauncherCandidate> chosen) {
        return new DetectedLauncher(one.family(), one.variables(), one.isComplete(), verdict(one, chosen));
    }

    private static String verdict(LauncherCandidate one, Optional<LauncherCandidate> chosen) {
        if (one.incomplete().isPresent()) {
            return one.incomplete().get();
        }
        if (chosen.isEmpty()) {
            return "refused";
        }
        return chosen.get() == one
                ? "chosen"
                : "not chosen: variables of " + chosen.get().family().title() + " take precedence";
    }

    private static String line(RankOfJob job, List<LauncherCandidate> found) {
        StringBuilder line = new StringBuilder(job.title());
        for (LauncherCandidate one : found) {
            if (one.family() != job.family()) {
                line.append(other(one));
            }
        }
        return line.toString();
    }

    private static String other(LauncherCandidate one) {
        return switch (one.family()) {
            case SLURM -> "; Slurm's variables describe the surrounding allocation";
            case INDEX -> "; " + one.variables() + " describes the surrounding pod";
            case OPEN_MPI, HYDRA ->
                "; " + one.variables() + " of " + one.family().title() + " is ignored";
            default -> "; " + one.variables() + " is ignored";
        };
    }
}
