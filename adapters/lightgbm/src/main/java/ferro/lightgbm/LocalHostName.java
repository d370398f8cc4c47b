package ferro.lightgbm;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;

/** The name of this host. On Linux no name is resolved, because that may be slow. */
final class LocalHostName {
    private static final Path OF_LINUX = Path.of("/proc/sys/kernel/hostname");

    private LocalHostName() {}

    static String read() {
        try {
            return Files.isReadable(OF_LINUX)
                    ? Files.readString(OF_LINUX).trim()
                    : InetAddress.getLocalHost().getHostName();
        } catch (IOException unknown) {
            return "unknown (" + unknown.getMessage() + ")";
        }
    }
}
