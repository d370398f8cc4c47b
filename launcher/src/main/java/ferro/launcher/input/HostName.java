package ferro.launcher.input;

import ferro.group.SystemContext;
import ferro.spi.Proc;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * The name of this host: the one that the user has given it, or the kernel's. A resolver may have another name or none, or may
 * take seconds to answer.
 */
public final class HostName {
    private static final String UNKNOWN = "(without a name)";

    private HostName() {}

    /** Returns the name that ferro.host gives to this host, else the kernel's. Ranks refuse a name that is not valid. */
    public static String in(RankContext context) {
        try {
            return Settings.HOST.find(context).orElseGet(HostName::ofKernel);
        } catch (IllegalArgumentException invalid) {
            return ofKernel();
        }
    }

    /** Returns the same from settings of ranks and variables. */
    public static String in(Map<String, String> settings) {
        try (SystemContext context = SystemContext.of(settings)) {
            return in(context);
        }
    }

    /** Returns the name that the kernel has for this host. */
    public static String ofKernel() {
        return Proc.HOST.hostName().orElseGet(HostName::asked);
    }

    private static String asked() {
        try {
            Process uname = new ProcessBuilder("uname", "-n").start();
            String name = new String(uname.getInputStream().readAllBytes(), StandardCharsets.UTF_8).trim();
            return name.isEmpty() ? UNKNOWN : name;
        } catch (IOException nameless) {
            return UNKNOWN;
        }
    }
}
