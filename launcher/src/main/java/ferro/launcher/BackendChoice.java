package ferro.launcher;

import ferro.group.BackendReport;
import ferro.group.SystemContext;
import ferro.spi.Settings;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The back end that ranks will be told to use, looked at before any of them starts: a name that cannot work would fail on
 * every rank, each with a trace.
 *
 * @param name  as ranks will read it
 * @param found every provider that the launcher sees
 */
record BackendChoice(String name, List<BackendReport> found) {
    private static final String AUTO = "auto";
    /** The one that reaches no other process. */
    private static final String SIMULATED = "simulated";

    /** Looks at the settings that ranks will see; {@code auto} asks no provider, as finding out costs a start its time. */
    static BackendChoice of(JobSpec spec, Target target, Map<String, String> environment) {
        Map<String, String> settings = new HashMap<>(environment);
        spec.backend().ifPresent(name -> settings.put("FERRO_BACKEND", name));
        settings.putAll(target.properties());
        try (SystemContext context = SystemContext.of(settings)) {
            String name = Settings.BACKEND.of(context);
            return new BackendChoice(name, name.equals(AUTO) ? List.of() : BackendReport.all(context));
        }
    }

    /**
     * Refuses a name that no rank could join by.
     *
     * @param ranks      of the job
     * @param othersToo  whether ranks may find providers that the launcher does not see
     */
    void check(int ranks, boolean othersToo) {
        if (name.equals(AUTO)) {
            return;
        }
        if (name.equals(SIMULATED) && ranks > 1) {
            throw refused(
                    "\"simulated\" joins threads of one process, and each of the " + ranks + " ranks is a process");
        }
        Optional<BackendReport> chosen =
                found.stream().filter(one -> one.name().equals(name)).findFirst();
        if (chosen.isEmpty() && !othersToo) {
            throw refused("there is no back end named \"" + name + "\"");
        }
        chosen.flatMap(BackendReport::unavailable).ifPresent(why -> {
            throw refused("back end \"" + name + "\" cannot work here: " + why);
        });
    }

    private BadInputException refused(String why) {
        String all = found.stream()
                .map(one -> one.name() + " (" + one.unavailable().orElse(usable(one)) + ")")
                .collect(Collectors.joining(", "));
        return new BadInputException(why + "; found: " + all + ": name a usable one, leave the choice to auto,"
                + " or add the jar that has it by -cp");
    }

    private static String usable(BackendReport one) {
        return one.name().equals(SIMULATED) ? "usable by a rank alone" : "usable";
    }
}
