package ferro.launcher.program;

import ferro.group.SystemContext;
import ferro.launcher.input.BadInputException;
import ferro.launcher.input.JobSpec;
import ferro.spi.Setting;
import ferro.spi.Settings;
import ferro.spi.UnknownSettings;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/** Checks settings of ranks. An error prints one line of the launcher in place of a trace or warning of each rank. */
public final class SettingsCheck {
    /** Settings that every rank reads and that may have a wrong value. */
    static final List<Setting<?>> OF_EVERY_RANK = List.of(
            Settings.TIMEOUT,
            Settings.JOIN_TIMEOUT,
            Settings.SEGMENT,
            Settings.MESSAGE_BUFFER,
            Settings.SPIN_COUNT,
            Settings.HEARTBEAT_INTERVAL,
            Settings.HEARTBEAT_SUSPECT,
            Settings.HEARTBEAT_LIMIT,
            Settings.RECORDER_ENTRIES);

    /** Settings that every rank of back end tcp reads and that may have a wrong value. */
    static final List<Setting<?>> OF_TCP = List.of(
            Settings.TCP_PORT, Settings.TCP_INTERFACE, Settings.TCP_HANDSHAKE_TIMEOUT, Settings.TLS, Settings.LINKS);

    /** Back ends whose ranks use back end tcp. */
    private static final Set<String> TCP = Set.of(BackendChoice.AUTO, "tcp", "shm");

    private SettingsCheck() {}

    /**
     * Refuses settings with values with which no rank could join. Does not check settings that only some ranks read.
     *
     * @param spec        the job
     * @param target      the program of the ranks
     * @param environment variables of the ranks
     */
    public static void check(JobSpec spec, LaunchTarget target, Map<String, String> environment) {
        try (SystemContext context = SystemContext.of(BackendChoice.ofFirstRank(spec, target, environment))) {
            boolean tcp = TCP.contains(Settings.BACKEND.of(context));
            Stream.concat(OF_EVERY_RANK.stream(), tcp ? OF_TCP.stream() : Stream.empty())
                    .forEach(setting -> setting.find(context));
        } catch (IllegalArgumentException wrong) {
            throw new BadInputException(wrong.getMessage(), wrong);
        }
    }

    /** Returns the names that are set for the ranks but are not settings of ferro. */
    public static Set<String> unknown(LaunchTarget target, Map<String, String> environment) {
        Set<String> names = new TreeSet<>(environment.keySet());
        names.addAll(target.properties().keySet());
        names.removeIf(name -> !UnknownSettings.isUnknown(name));
        return names;
    }
}
