package ferro.launcher.input;

import ferro.group.SystemContext;
import ferro.spi.LinuxFiles;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * The name of this host, which the user or else the kernel gives. No name service is asked, because a name service may
 * return another name or no name, and may take seconds to answer.
 */
public final class HostNameFinder {
    private static final String UNKNOWN = "(without a name)";

    private HostNameFinder() {}

    /**
     * Returns the name that the setting ferro.host gives to this host, or else the name from the kernel. Does not throw
     * for an invalid name, because ranks refuse an invalid name.
     */
    public static String in(RankContext context) {
        try {
            return Settings.HOST.find(context).orElseGet(HostNameFinder::ofKernel);
        } catch (IllegalArgumentException invalid) {
            return ofKernel();
        }
    }

    /** Returns the name of this host according to the settings of ranks, including environment variables. */
    public static String in(Map<String, String> settings) {
        try (SystemContext context = SystemContext.of(settings)) {
            return in(context);
        }
    }

    /** Returns the name that the kernel gives to this host. */
    public static String ofKernel() {
        return LinuxFiles.HOST.hostName().orElseGet(HostNameFinder::asked);
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
