package ferro.backend.tcp.net;

import ferro.FerroException.Code;
import ferro.spi.PortRange;
import ferro.spi.Proc;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
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
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/**
 * The ports that a rank tries to listen on, in order. Each rank of a host begins at another port of the range, so that two
 * ranks try the same port only if another process holds one.
 *
 * @param range     range that is set
 * @param localRank number of this rank on its host
 * @param spared    port of the store, tried last because its server may start later; 0 for none
 * @param servesStore whether the only port is that of the store
 */
public record PortChoice(PortRange range, int localRank, int spared, boolean servesStore) {
    private static final String SETTING = Settings.TCP_PORT.name();
    /**
     * How often to try a range: if two processes begin to listen on a free port in the same microseconds, Linux can
     * refuse both.
     */
    private static final int ROUNDS = 4;

    private static final long LONGEST_PAUSE_NANOS = 10_000_000;

    /** Reads the setting; the rank that serves the store listens on the store's port alone. */
    public static PortChoice of(RankContext context, int storePort, boolean servesStore) {
        PortRange asked = Settings.TCP_PORT.of(context);
        return servesStore
                ? new PortChoice(new PortRange(storePort, storePort), 0, 0, true)
                : new PortChoice(asked, Settings.LOCAL_RANK.find(context).orElse(0), storePort, false);
    }

    /** Returns the ports in the order in which they are tried; only 0 if any port will do. */
    public int[] ports() {
        int size = range.size();
        int begin = Math.floorMod(localRank, size);
        int[] ports = new int[size];
        int next = 0;
        for (int at = 0; at < size; at++) {
            int port = range.first() + (begin + at) % size;
            if (port != spared || size == 1) {
                ports[next++] = port;
            }
        }
        if (next < size) {
            ports[next] = spared;
        }
        return ports;
    }

    /**
     * Binds the first port that is free. Tries a range several times, with pauses of different lengths between.
     *
     * @throws IOException the last error, if all ports are held
     */
    public InetSocketAddress firstFree(Binding binding) throws IOException {
        int[] ports = ports();
        IOException last = null;
        for (int round = 0; round < (ports.length == 1 ? 1 : ROUNDS); round++) {
            if (round > 0) {
                LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(LONGEST_PAUSE_NANOS));
            }
            for (int port : ports) {
                try {
                    return binding.bind(port);
                } catch (IOException taken) {
                    last = taken;
                }
            }
        }
        throw last;
    }

    /** How a port is bound. */
    @FunctionalInterface
    public interface Binding {
        /** Binds a port, and returns the bound address; throws IOException if the port is held. */
        InetSocketAddress bind(int port) throws IOException;
    }

    /** Returns the reason when no port could be bound, with the processes that hold them as far as they can be seen. */
    public Refusal noneFree(InetAddress address, IOException cause) {
        int[] ports = ports();
        if (Addresses.isElsewhere(address)) {
            return new Refusal(
                    Code.RENDEZVOUS,
                    TcpListener.notBound(new InetSocketAddress(address, ports[0]), cause)
                                    .getMessage()
                            + "; if it leads to this machine from elsewhere, such as the address of a service, set "
                            + Settings.TCP_BIND.name() + "=0.0.0.0 for this rank");
        }
        if (range.size() == 1) {
            Refusal last = TcpListener.notBound(new InetSocketAddress(address, ports[0]), cause);
            return range.any() || servesStore ? last : new Refusal(Code.RENDEZVOUS, last.getMessage() + advice());
        }
        String holders = PortHolders.of(address, ports);
        return new Refusal(
                Code.RENDEZVOUS,
                "cannot listen on " + address.getHostAddress() + " at any of the " + range.size() + " ports of "
                        + SETTING
                        + "=" + range + ": "
                        + (holders.isEmpty() ? "the last error is " + cause.getMessage() : "held " + holders)
                        + advice());
    }

    private String advice() {
        return "; " + SETTING + " needs a free port for each rank of a host"
                + (range.size() == 1 ? ": a range, such as " + range.first() + "-" + (range.first() + 15) : "");
    }

    /** Names the processes that listen on ports of this machine, as far as Linux shows them to this user; for messages. */
    static final class PortHolders {
        private static final String LISTEN = "0A";
        private static final int STATE = 3;
        private static final int INODE = 9;
        private static final int MOST_NAMED = 16;

        private PortHolders() {}

        /** Returns {@code 20000 by process 4711 (java), 20001 by a process of another user}; empty if nothing is known. */
        static String of(InetAddress address, int[] ports) {
            Map<Integer, String> inodes = new TreeMap<>();
            for (String table : List.of("net/tcp", "net/tcp6")) {
                listening(Proc.HOST.path(table), address, ports, inodes);
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
                // no such table here, or one of another form: no process is named
            }
        }

        private static boolean inTheWay(InetAddress there, InetAddress wanted) {
            return there.isAnyLocalAddress() || wanted.isAnyLocalAddress() || there.equals(wanted);
        }

        /** Parses an address of the kernel's table, which prints words of four bytes as numbers of its own byte order. */
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

        /** Returns the processes that hold these sockets, by inode. */
        private static Map<String, String> owners(Map<Integer, String> inodes) {
            Map<String, String> wanted = new HashMap<>();
            inodes.values().forEach(inode -> wanted.put("socket:[" + inode + "]", inode));
            Map<String, String> owners = new HashMap<>();
            try {
                for (Path process : Proc.HOST.list("", "[0-9]*")) {
                    lookInto(process, wanted, owners);
                }
            } catch (IOException unknown) {
                // no processes are visible here
            }
            return owners;
        }

        private static void lookInto(Path process, Map<String, String> wanted, Map<String, String> owners) {
            try {
                for (Path file : Proc.HOST.list(process.getFileName() + "/fd", "*")) {
                    String inode = wanted.get(target(file));
                    if (inode != null) {
                        owners.putIfAbsent(inode, name(process));
                    }
                }
            } catch (IOException hidden) {
                // a process of another user, or one that has ended meanwhile
            }
        }

        /** Returns what a descriptor is; empty if it is closed since, as that by which the folder was listed. */
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
}
