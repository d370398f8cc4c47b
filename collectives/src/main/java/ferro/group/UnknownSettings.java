package ferro.group;

import ferro.spi.OncePerContext;
import ferro.spi.RankContext;
import ferro.spi.Setting;
import ferro.spi.Settings;
import java.lang.System.Logger.Level;
import java.util.Comparator;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Logs a warning for names that are set but are no settings, such as {@code ferro.tiemout}. Without the warning a
 * misspelled setting would silently have no effect.
 */
final class UnknownSettings {
    private static final System.Logger LOG = System.getLogger("ferro.join");
    private static final Set<String> KNOWN = known();
    /** System properties of the Netty in ferro-backend-tcp-shaded, which that Netty reads itself. */
    private static final String OF_NETTY = "ferro.shaded.";

    private UnknownSettings() {}

    /** Logs a warning for each name once per context, even if the context joins several times. */
    static void tellOnce(RankContext context) {
        new TreeSet<>(context.settingNames())
                .stream()
                        .filter(name -> !KNOWN.contains(name) && !name.startsWith(OF_NETTY))
                        .filter(name -> OncePerContext.isFirst(context, UnknownSettings.class.getName() + name))
                        .forEach(name -> LOG.log(Level.WARNING, text(name)));
    }

    private static Set<String> known() {
        Set<String> names = Settings.all().stream().map(Setting::name).collect(Collectors.toSet());
        Settings.all().forEach(setting -> names.add(setting.variable()));
        names.addAll(Settings.ofScripts());
        return Set.copyOf(names);
    }

    /** Returns the message for a name that is no setting, with the nearest name of a setting. */
    static String text(String name) {
        String asVariable = Setting.variable(name);
        Setting<?> nearest = Settings.all().stream()
                .min(Comparator.comparingInt(setting -> distance(asVariable, setting.variable())))
                .orElseThrow();
        boolean property = !name.equals(asVariable) && !nearest.name().equals(nearest.variable());
        return name + " is no setting of ferro and has no effect: did you mean "
                + (property ? nearest.name() : "the variable " + nearest.variable())
                + "? docs/configuration.md lists all settings";
    }

    /** Returns the edit distance: how many letters must be inserted, deleted or changed (Levenshtein 1966). */
    private static int distance(String one, String other) {
        int[] row = new int[other.length() + 1];
        for (int at = 0; at < row.length; at++) {
            row[at] = at;
        }
        for (int i = 1; i <= one.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int at = 1; at < row.length; at++) {
                int change = diagonal + (one.charAt(i - 1) == other.charAt(at - 1) ? 0 : 1);
                diagonal = row[at];
                row[at] = Math.min(change, 1 + Math.min(row[at], row[at - 1]));
            }
        }
        return row[other.length()];
    }
}
