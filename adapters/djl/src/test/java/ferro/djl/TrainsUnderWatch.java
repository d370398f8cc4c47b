package ferro.djl;

import java.io.IOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * A program that runs {@link FitsWithEasyTrain} and watches its connections. DJL connects with a {@link Socket}: the
 * program refuses and prints each such connection. The program also prints the remote addresses of all TCP sockets that
 * the process has during the run. These are ferro's sockets.
 */
final class TrainsUnderWatch {
    private static final long POLL_NANOS = 1_000_000L;

    private TrainsUnderWatch() {}

    @SuppressWarnings("deprecation") // the only hook of the JDK that sees every connection
    public static void main(String[] arguments) throws Exception {
        Socket.setSocketImplFactory(RefusedSocket::new);
        Set<String> seen = new TreeSet<>();
        AtomicBoolean isDone = new AtomicBoolean();
        Thread poller = new Thread(() -> poll(seen, isDone), "looks-at-sockets");
        poller.start();
        try {
            FitsWithEasyTrain.main(arguments);
        } finally {
            isDone.set(true);
            poller.join();
            seen.forEach(peer -> System.out.println("peer " + peer));
        }
    }

    private static void poll(Set<String> seen, AtomicBoolean isDone) {
        do {
            try {
                seen.addAll(peers());
            } catch (IOException unreadable) {
                seen.add("unknown: " + unreadable);
            }
            LockSupport.parkNanos(POLL_NANOS);
        } while (!isDone.get());
    }

    private static Set<String> peers() throws IOException {
        Set<String> own = new HashSet<>();
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            for (Path descriptor : descriptors.toList()) {
                // some descriptors have been closed in the meantime
                if (Files.isSymbolicLink(descriptor)) {
                    own.add(target(descriptor));
                }
            }
        }
        Set<String> peers = new HashSet<>();
        for (String table : List.of("tcp", "tcp6")) {
            for (String line : Files.readAllLines(Path.of("/proc/self/net", table))) {
                String[] fields = line.trim().split(" +");
                if (own.contains("socket:[" + fields[9] + "]")) {
                    peers.add(fields[2].substring(0, fields[2].indexOf(':')));
                }
            }
        }
        return peers;
    }

    private static String target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException closed) {
            return "closed";
        }
    }
}
