package ferro.lightgbm;

import ferro.spi.LinuxFiles;
import java.net.InetAddress;
import java.net.UnknownHostException;

/** The name of this host. On Linux no name is resolved, because that may be slow. */
final class LocalHostName {
    private LocalHostName() {}

    static String read() {
        try {
            String ofLinux = LinuxFiles.HOST.hostName().orElse(null);
            return ofLinux == null ? InetAddress.getLocalHost().getHostName() : ofLinux;
        } catch (UnknownHostException unknown) {
            return "unknown (" + unknown.getMessage() + ")";
        }
    }
}
