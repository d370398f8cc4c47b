package ferro.spi;

import java.lang.System.Logger.Level;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

/**
 * Finds names that are set but are not settings, such as {@code ferro.tiemout}, and logs a warning for each name.
 * Without the warning a misspelled setting would silently have no effect.
 */
public final class UnknownSettings {
    private static final Set<String> KNOWN = known();
    /** Prefix of system properties that belong to Netty in ferro-backend-tcp-shaded, which reads these properties. */
    private static final String OF_NETTY = "ferro.shaded.";

    /** Variables of settings that earlier builds had. */
    private static final Set<String> REMOVED =
            Set.of("FERRO_WARMUP", "FERRO_ALGORITHM_TABLE", "FERRO_CONTROL_MESH_MOST");

    private UnknownSettings() {}

    /**
     * Logs a warning for each unknown name once per context, even if the context joins several times. No warning is
     * logged for a name about which the launcher has warned.
     *
     * @param context context of the rank
     */
    public static void logOnce(RankContext context) {
        List<String> warned =
                List.of(Settings.WARNED_NAMES.find(context).orElse("").split(","));
        for (String name : new TreeSet<>(context.settingNames())) {
            if (isUnknown(name)
                    && !warned.contains(name)
                    && OnceRegistry.isFirst(context, UnknownSettings.class.getName() + name)) {
                PlainLoggers.write("ferro.join", Level.WARNING, text(name));
            }
        }
    }

    /**
     * Returns whether a name has the form of a setting of ferro but is not a setting.
     *
     * @param name property or variable
     * @return whether the name begins like a setting, and neither a rank nor a script reads it
     */
    public static boolean isUnknown(String name) {
        Objects.requireNonNull(name, "name");
        return (name.startsWith("ferro.") || name.startsWith("FERRO_"))
                && !name.startsWith(OF_NETTY)
                && !KNOWN.contains(name);
    }

    private static Set<String> known() {
        Set<String> names = new HashSet<>();
        for (Setting<?> setting : Settings.all()) {
            names.add(setting.name());
            names.add(setting.variable());
        }
        names.addAll(Settings.ofScripts());
        return Set.copyOf(names);
    }

    /**
     * Returns the message for a name that is not a setting.
     *
     * @param name property or variable
     * @return message with the nearest name of a setting, or that the setting was removed
     */
    public static String text(String name) {
        String asVariable = Setting.variable(name);
        if (REMOVED.contains(asVariable)) {
            return name + " is no setting of ferro any more and has no effect: remove it, see CHANGELOG.md";
        }
        List<String> variables = Settings.all().stream().map(Setting::variable).toList();
        String closest =
                NearestName.of(asVariable, variables, Integer.MAX_VALUE).orElseThrow();
        Setting<?> nearest = Settings.all().get(variables.indexOf(closest));
        boolean property = !name.equals(asVariable) && !nearest.name().equals(nearest.variable());
        return name + " is no setting of ferro and has no effect: did you mean "
                + (property ? nearest.name() : "the variable " + nearest.variable())
                + "? docs/configuration.md lists all settings";
    }
}
