package ferro.launcher;

import ferro.backend.tcp.TcpOutlook;
import ferro.group.SystemContext;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Tells NCCL of {@code ferro.tcp.interface}: NCCL reads its environment alone, by getenv, so only whoever starts a process can
 * tell it.
 */
final class NcclInterfaces {
    static final String VARIABLE = "NCCL_SOCKET_IFNAME";

    private NcclInterfaces() {}

    /**
     * Adds the variable, unless somebody has set it.
     *
     * @param environment of the launcher
     * @param properties  of the ranks, which win over it
     */
    static Map<String, String> addedTo(Map<String, String> environment, Map<String, String> properties) {
        Map<String, String> settings = new HashMap<>(environment);
        settings.putAll(properties);
        List<String> names;
        try (SystemContext context = SystemContext.of(settings)) {
            names = environment.containsKey(VARIABLE) ? List.of() : TcpOutlook.interfaces(context);
        } catch (IllegalArgumentException senseless) {
            // the ranks will say so
            names = List.of();
        }
        if (names.isEmpty()) {
            return environment;
        }
        Map<String, String> all = new HashMap<>(environment);
        all.put(VARIABLE, value(names));
        return Map.copyOf(all);
    }

    /** With an equals sign in front names are whole names, without it beginnings of names. */
    static String value(List<String> names) {
        return "=" + String.join(",", names);
    }
}
