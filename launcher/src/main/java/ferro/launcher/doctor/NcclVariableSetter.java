package ferro.launcher.doctor;

import ferro.backend.tcp.TcpOutlook;
import ferro.group.SystemContext;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Passes {@code ferro.tcp.interface} to NCCL. NCCL reads its settings only from the environment, by getenv. Therefore
 * only the launcher that starts a process can pass settings to NCCL.
 */
public final class NcclVariableSetter {
    static final String VARIABLE = "NCCL_SOCKET_IFNAME";

    private NcclVariableSetter() {}

    /**
     * Adds NCCL's variable for network interfaces, unless the variable is already set.
     *
     * @param environment variables of the launcher
     * @param properties  settings of the ranks, which have precedence over variables
     */
    public static Map<String, String> addedTo(Map<String, String> environment, Map<String, String> properties) {
        Map<String, String> settings = new HashMap<>(environment);
        settings.putAll(properties);
        List<String> names;
        try (SystemContext context = SystemContext.of(settings)) {
            names = environment.containsKey(VARIABLE) ? List.of() : TcpOutlook.interfaces(context);
        } catch (IllegalArgumentException senseless) {
            // the ranks report the wrong setting
            names = List.of();
        }
        if (names.isEmpty()) {
            return environment;
        }
        Map<String, String> all = new HashMap<>(environment);
        all.put(VARIABLE, value(names));
        return Map.copyOf(all);
    }

    /** Returns the value of NCCL's variable. With an equals sign first, NCCL compares complete names, not prefixes. */
    static String value(List<String> names) {
        return "=" + String.join(",", names);
    }
}
