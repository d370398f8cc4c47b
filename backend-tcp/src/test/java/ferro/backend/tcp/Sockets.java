package ferro.backend.tcp;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** What the kernel says is listening; Linux only. */
final class Sockets {
    private static final String LISTEN = "0A";

    private Sockets() {}

    /** The addresses that a port is listened on. */
    static List<String> listening(int port) throws IOException {
        List<String> found = new ArrayList<>();
        for (String table : List.of("/proc/net/tcp", "/proc/net/tcp6")) {
            for (String line : Files.readAllLines(Path.of(table))) {
                String[] fields = line.trim().split("\\s+");
                if (fields.length > 3 && fields[3].equals(LISTEN) && port(fields[1]) == port) {
                    found.add(address(fields[1]));
                }
            }
        }
        return found;
    }

    private static int port(String field) {
        return Integer.parseInt(field.substring(field.indexOf(':') + 1), 16);
    }

    /** The kernel writes words of four bytes, each the wrong way round on this machine. */
    private static String address(String field) throws IOException {
        byte[] bytes = HexFormat.of().parseHex(field.substring(0, field.indexOf(':')));
        for (int word = 0; word < bytes.length; word += 4) {
            for (int i = 0; i < 2; i++) {
                byte swapped = bytes[word + i];
                bytes[word + i] = bytes[word + 3 - i];
                bytes[word + 3 - i] = swapped;
            }
        }
        return InetAddress.getByAddress(bytes).getHostAddress();
    }
}
