package ferro.backend.tcp.net;

import ferro.spi.LinuxFiles;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

/** Finds the processes that listen on ports of this host, for messages. Linux shows a user only some processes. */
final class PortHolderFinder {
    private static final String LISTEN = "0A";
    private static final int STATE = 3;
    private static final int INODE = 9;
    private static final int MOST_NAMED = 16;

    private PortHolderFinder() {}

    /** Returns {@code 20000 by process 4711 (java), 20001 by a process that this user cannot see}, or empty text. */
    static String of(InetAddress address, int[] ports) {
        Map<Integer, String> inodes = new TreeMap<>();
        for (String table : List.of("net/tcp", "net/tcp6")) {
            listening(LinuxFiles.HOST.path(table), address, ports, inodes);
        }
        Map<String, String> owners = inodes.isEmpty() ? Map.of() : owners(inodes);
        List<String> held = new ArrayList<>();
        inodes.forEach((port, inode) -> {
            if (held.size() < MOST_NAMED) {
                held.add(port + " by " + owners.getOrDefault(inode, "a process that this user cannot see"));
            }
        });
        if (inodes.size() > MOST_NAMED) {
            held.add((inodes.size() - MOST_NAMED) + " more");
        }
        return String.join(", ", held);
    }

    private static void listening(Path table, InetAddress address, int[] ports, Map<Integer, String> inodes) {
        try {
            for (String line : Files.readAllLines(table)) {
                String[] fields = line.trim().split("\\s+");
                if (fields.length <= INODE || !fields[STATE].equals(LISTEN)) {
                    continue;
                }
                String[] place = fields[1].split(":");
                int port = Integer.parseInt(place[1], 16);
                boolean asked = IntStream.of(ports).anyMatch(one -> one == port);
                if (asked && inTheWay(address(place[0]), address)) {
                    inodes.putIfAbsent(port, fields[INODE]);
                }
            }
        } catch (IOException | IllegalArgumentException unknown) {
            // the kernel's table is absent or has another format, so the message names no process
        }
    }

    private static boolean inTheWay(InetAddress there, InetAddress wanted) {
        return there.isAnyLocalAddress() || wanted.isAnyLocalAddress() || there.equals(wanted);
    }

    /**
     * Parses an address of the kernel's table, which has words of four bytes. Each word is a hexadecimal number in the
     * host's byte order.
     */
    private static InetAddress address(String hex) throws UnknownHostException {
        byte[] bytes = HexFormat.of().parseHex(hex);
        for (int word = 0; ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN && word < bytes.length; word += 4) {
            for (int i = 0; i < 2; i++) {
                byte swapped = bytes[word + i];
                bytes[word + i] = bytes[word + 3 - i];
                bytes[word + 3 - i] = swapped;
            }
        }
        return InetAddress.getByAddress(bytes);
    }

    /** Returns the processes that have the given sockets open, by the inode of the socket. */
    private static Map<String, String> owners(Map<Integer, String> inodes) {
        Map<String, String> wanted = new HashMap<>();
        inodes.values().forEach(inode -> wanted.put("socket:[" + inode + "]", inode));
        Map<String, String> owners = new HashMap<>();
        try {
            for (Path process : LinuxFiles.HOST.list("", "[0-9]*")) {
                lookInto(process, wanted, owners);
            }
        } catch (IOException unknown) {
            // this process may not list the processes
        }
        return owners;
    }

    private static void lookInto(Path process, Map<String, String> wanted, Map<String, String> owners) {
        try {
            for (Path file : LinuxFiles.HOST.list(process.getFileName() + "/fd", "*")) {
                String inode = wanted.get(target(file));
                if (inode != null) {
                    owners.putIfAbsent(inode, name(process));
                }
            }
        } catch (IOException hidden) {
            // the process belongs to another user, or has ended since
        }
    }

    /**
     * Returns the target of a descriptor in /proc. Empty if the descriptor was closed, like the descriptor by which
     * /proc was listed.
     */
    private static String target(Path file) {
        try {
            return Files.readSymbolicLink(file).toString();
        } catch (IOException closed) {
            return "";
        }
    }

    private static String name(Path process) throws IOException {
        String pid = process.getFileName().toString();
        boolean own = pid.equals(Long.toString(ProcessHandle.current().pid()));
        String command = Files.readString(process.resolve("comm")).trim();
        return (own ? "this process, " : "process ") + pid + " (" + command + ")";
    }
}
