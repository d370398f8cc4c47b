package ferro.group;

import ferro.spi.NearestName;
import ferro.spi.OncePerContext;
import ferro.spi.RankContext;
import ferro.spi.Setting;
import ferro.spi.Settings;
import java.lang.System.Logger.Level;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

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
        for (String name : new TreeSet<>(context.settingNames())) {
            if (!KNOWN.contains(name)
                    && !name.startsWith(OF_NETTY)
                    && OncePerContext.isFirst(context, UnknownSettings.class.getName() + name)) {
                LOG.log(Level.WARNING, text(name));
            }
        }
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

    /** Returns the message for a name that is no setting, with the nearest name of a setting. */
    static String text(String name) {
        String asVariable = Setting.variable(name);
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
