package ferro.launcher.program;

import ferro.group.BackendReport;
import ferro.group.SystemContext;
import ferro.launcher.input.BadInputException;
import ferro.launcher.input.JobSpec;
import ferro.spi.Settings;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * The choice of back end for all ranks. The choice is checked before any rank starts, because a wrong name causes a
 * trace on every rank.
 *
 * @param name  setting that ranks will read: {@code auto}, one name, or pairs such as {@code cpu:tcp,cuda:nccl}
 * @param found all providers that the launcher finds
 */
public record BackendChoice(String name, List<BackendReport> found) {
    public static final String AUTO = "auto";
    /** The back end that connects only ranks of one process. */
    public static final String SIMULATED = "simulated";

    /** Reads the choice from the settings of the ranks. For {@code auto}, asks no provider, to start quickly. */
    public static BackendChoice of(JobSpec spec, LaunchTarget target, Map<String, String> environment) {
        try (SystemContext context = SystemContext.of(ofFirstRank(spec, target, environment))) {
            String name = Settings.BACKEND.of(context);
            return new BackendChoice(name, name.equals(AUTO) ? List.of() : BackendReport.all(context));
        }
    }

    /** Returns the settings that the first rank of this host will read. */
    public static Map<String, String> ofFirstRank(JobSpec spec, LaunchTarget target, Map<String, String> environment) {
        Map<String, String> settings = new HashMap<>(environment);
        spec.backend().ifPresent(name -> settings.put("FERRO_BACKEND", name));
        spec.links().ifPresent(kind -> settings.put("FERRO_LINKS", kind));
        // sets the values of this job's first rank, not of an outer launcher, because a check counts the local ranks
        settings.put("FERRO_STORE_SERVED", "1");
        settings.put("RANK", "" + spec.placement().firstRank());
        settings.put("WORLD_SIZE", "" + spec.placement().worldSize());
        settings.put("LOCAL_RANK", "0");
        settings.put("LOCAL_WORLD_SIZE", "" + spec.placement().ranksHere());
        settings.putAll(target.properties());
        return settings;
    }

    /** Returns the names in a choice: each name after a kind of memory ({@code cpu:tcp}), or the single name. */
    public static List<String> names(String choice) {
        return Arrays.stream(choice.split(","))
                .map(pair -> pair.substring(pair.indexOf(':') + 1).trim())
                .toList();
    }

    /**
     * Refuses a name with which no rank could join.
     *
     * @param ranks     number of ranks of the job
     * @param othersToo whether ranks may find providers that the launcher does not find
     */
    public void check(int ranks, boolean othersToo) {
        if (!name.equals(AUTO)) {
            names(name).forEach(one -> check(one, ranks, othersToo));
        }
    }

    private void check(String one, int ranks, boolean othersToo) {
        if (one.equals(SIMULATED) && ranks > 1) {
            throw new BadInputException("\"simulated\" joins threads of one process, but each of the " + ranks
                    + " ranks is a process; " + usable(ranks));
        }
        Optional<BackendReport> chosen =
                found.stream().filter(report -> report.name().equals(one)).findFirst();
        if (chosen.isEmpty() && !othersToo) {
            throw new BadInputException("there is no back end named \"" + one + "\" (-cp adds one of your own); "
                    + usable(ranks) + unusable());
        }
        chosen.flatMap(BackendReport::unavailable).ifPresent(why -> {
            throw new BadInputException("back end \"" + one + "\" cannot work here: " + why + "; " + usable(ranks));
        });
    }

    private String usable(int ranks) {
        String names = names(report ->
                report.unavailable().isEmpty() && (ranks == 1 || !report.name().equals(SIMULATED)));
        return "usable here: " + (names.isEmpty() ? "none" : names + ", auto");
    }

    private String unusable() {
        String names = names(report -> report.unavailable().isPresent());
        return names.isEmpty() ? "" : "; not usable here: " + names + " (ferro doctor says why)";
    }

    private String names(Predicate<BackendReport> which) {
        return found.stream().filter(which).map(BackendReport::name).collect(Collectors.joining(", "));
    }
}
