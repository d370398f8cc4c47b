package ferro.lightgbm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.backend.tcp.TcpStoreServer;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Ranks of one group that are processes on this host: LightGBM's own sockets need one process per rank. */
public final class RankJvms implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(120);

    private final Path folder;
    private final TcpStoreServer store;
    private final List<Process> ranks = new ArrayList<>();

    /** Starts a program on each rank. Native libraries are extracted into the folder. */
    public RankJvms(Path folder, int worldSize, Map<String, String> settings, Class<?> program, String... arguments)
            throws IOException {
        this.folder = folder;
        this.store = TcpStoreServer.start(InetAddress.getLoopbackAddress(), 0, "default", worldSize, null);
        for (int rank = 0; rank < worldSize; rank++) {
            List<String> line = new ArrayList<>(List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-XX:TieredStopAtLevel=1",
                    "-XX:+UseSerialGC",
                    "-Djna.tmpdir=" + folder,
                    "-cp",
                    System.getProperty("java.class.path"),
                    program.getName()));
            line.addAll(List.of(arguments));
            ProcessBuilder builder = new ProcessBuilder(line)
                    .redirectErrorStream(true)
                    .redirectOutput(output(rank).toFile());
            builder.environment().putAll(settings);
            builder.environment()
                    .putAll(Map.of(
                            "FERRO_BACKEND",
                            "tcp",
                            "FERRO_RENDEZVOUS",
                            "tcp://127.0.0.1:" + store.port(),
                            "FERRO_STORE_SERVED",
                            "1",
                            "FERRO_RANK",
                            Integer.toString(rank),
                            "FERRO_WORLD_SIZE",
                            Integer.toString(worldSize)));
            ranks.add(builder.start());
        }
    }

    private Path output(int rank) {
        return folder.resolve("rank-" + rank + ".out");
    }

    /** Returns the process of a rank. */
    Process process(int rank) {
        return ranks.get(rank);
    }

    /** Waits for the end of a rank, and returns its lines after a first word. */
    public List<String> ended(int rank, String word) throws Exception {
        assertTrue(
                ranks.get(rank).waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS),
                () -> "rank " + rank + " has not ended after " + TIMEOUT + ": " + lines(rank));
        return lines(rank).stream()
                .filter(line -> line.startsWith(word + " "))
                .map(line -> line.substring(word.length() + 1))
                .toList();
    }

    /** Waits for the end of a rank that must succeed. */
    public List<String> succeeded(int rank, String word) throws Exception {
        List<String> lines = ended(rank, word);
        assertEquals(0, ranks.get(rank).exitValue(), () -> String.join("\n", lines(rank)));
        return lines;
    }

    List<String> lines(int rank) {
        try {
            return Files.readAllLines(output(rank));
        } catch (IOException unreadable) {
            return List.of(unreadable.toString());
        }
    }

    @Override
    public void close() {
        ranks.forEach(Process::destroyForcibly);
        store.close();
    }
}
