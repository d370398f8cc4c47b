package ferro.launcher.input;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** The kernel's name of this host. A resolver may have another name or none, or may take seconds to answer. */
public final class HostName {
    private static final Path KERNELS = Path.of("/proc/sys/kernel/hostname");
    private static final String UNKNOWN = "(without a name)";

    private HostName() {}

    /** Returns the name that the kernel has for this host. */
    public static String ofKernel() {
        try {
            return Files.isReadable(KERNELS) ? Files.readString(KERNELS).trim() : asked();
        } catch (IOException nameless) {
            return UNKNOWN;
        }
    }

    private static String asked() throws IOException {
        Process uname = new ProcessBuilder("uname", "-n").start();
        String name = new String(uname.getInputStream().readAllBytes(), StandardCharsets.UTF_8).trim();
        return name.isEmpty() ? UNKNOWN : name;
    }
}
