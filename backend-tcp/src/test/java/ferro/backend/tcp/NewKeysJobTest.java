package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.group.ProcessGroup;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A job whose connections change their keys after few bytes, as the JDK's engine does by itself after 2^37. */
class NewKeysJobTest {
    private static final int STREAMS = 5;
    private static final int COUNT = 1_000_003;
    private static final long LIMIT = 1 << 17;
    /** Times that the keys of one stream of the child change at least. */
    private static final long CHANGES = (long) STREAMS * COUNT * Float.BYTES / LIMIT / 2;

    @Test
    void numbersAreRightWhileConnectionsChangeTheirKeysOneWayAndBothWays(@TempDir Path folder) throws Exception {
        Path security = folder.resolve("java.security");
        Files.writeString(security, "jdk.tls.keyLimits=AES/GCM/NoPadding KeyUpdate " + LIMIT + "\n");
        Path output = folder.resolve("output");
        Process child = new ProcessBuilder(List.of(
                        System.getProperty("java.home") + "/bin/java",
                        "-Djava.security.properties=" + security,
                        "-Djavax.net.debug=ssl:handshake",
                        "-cp",
                        path(),
                        KeyChangeJob.class.getName()))
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();

        boolean over = child.waitFor(90, TimeUnit.SECONDS);
        child.destroyForcibly();
        List<String> said = Files.readAllLines(output);
        String end = String.join("\n", said.subList(Math.max(0, said.size() - 40), said.size()));
        assertTrue(over, () -> "the child has not ended:\n" + end);
        assertEquals(0, child.exitValue(), end);
        long produced = said.stream()
                .filter(line -> line.contains("Produced KeyUpdate"))
                .count();
        long consumed = said.stream()
                .filter(line -> line.contains("Consuming KeyUpdate"))
                .count();
        assertTrue(produced > 2 * CHANGES, "keys changed " + produced + " times, need more than " + 2 * CHANGES);
        assertTrue(consumed > produced * 9 / 10, consumed + " of " + produced + " new keys have come");
    }

    /** Everything that this JVM runs from, as one class path. */
    private static String path() throws Exception {
        String own = Path.of(NewKeysJobTest.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .toURI())
                .toString();
        return String.join(
                File.pathSeparator,
                own,
                System.getProperty("jdk.module.path", ""),
                System.getProperty("java.class.path"));
    }

    /** Streams one way, and then both ways. */
    static final class KeyChangeJob {
        private KeyChangeJob() {}

        public static void main(String[] arguments) {
            try (TcpJob job = new TcpJob(2, Duration.ofSeconds(60), TcpJob.encrypted(Map.of()))) {
                List<ProcessGroup> groups = job.joinAll("g");
                for (int stream = 1; stream <= STREAMS; stream++) {
                    float told = stream;
                    TcpJob.onAll(groups, group -> {
                        float[] data = new float[COUNT];
                        Arrays.fill(data, group.rank() == 0 ? told : 0);
                        group.broadcast(data, 0);
                        for (int i = 0; i < COUNT; i++) {
                            if (data[i] != told) {
                                throw new AssertionError("element " + i + " is " + data[i] + ", need " + told);
                            }
                        }
                        return null;
                    });
                }
                TcpJob.onAll(groups, group -> AbortBesideSiblingTest.sum(group, 3, COUNT));
            }
            System.exit(0);
        }
    }
}
