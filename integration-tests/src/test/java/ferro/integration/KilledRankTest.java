package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.backend.tcp.TcpStoreServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How soon the other ranks know, in processes of their own, that one was killed in the midst of a call. */
@Timeout(120)
class KilledRankTest {
    private static final int WORLD_SIZE = 3;
    /** The promise is 100 ms on an idle machine; this one may be anything but idle. */
    private static final long BOUND_MILLIS = 2_000;

    @ParameterizedTest
    @ValueSource(ints = {0, 2})
    void theOthersNameARankThatIsKilledInTheMidstOfACall(int victim) throws IOException {
        List<Rank> ranks = new ArrayList<>();
        try (TcpStoreServer store =
                TcpStoreServer.start(InetAddress.getLoopbackAddress(), 0, "default", WORLD_SIZE, null)) {
            for (int rank = 0; rank < WORLD_SIZE; rank++) {
                ranks.add(Rank.start(rank, store.port(), SumsUntilAFailure.class));
            }
            for (Rank rank : ranks) {
                assertEquals("going", rank.line());
            }

            Processes.kill(ranks.remove(victim).process.pid());

            for (Rank survivor : ranks) {
                String said = survivor.line();
                String millis = survivor.line();
                String message = survivor.line();
                System.out.println("rank " + survivor.rank + " knew after " + millis + " ms: " + message);
                assertEquals("failed PEER_LOST of rank " + victim, said, message);
                assertTrue(Long.parseLong(millis) < BOUND_MILLIS, millis + " ms until " + message);
            }
        } finally {
            ranks.forEach(rank -> Processes.kill(rank.process.pid()));
        }
    }

    @Test
    void ranksThatLeaveAtTheFailureHaveLeftTheirFlightRecords(@TempDir Path folder) throws Exception {
        List<Rank> ranks = new ArrayList<>();
        try (TcpStoreServer store =
                TcpStoreServer.start(InetAddress.getLoopbackAddress(), 0, "default", WORLD_SIZE, null)) {
            for (int rank = 0; rank < WORLD_SIZE; rank++) {
                ranks.add(Rank.start(rank, store.port(), ExitsAtItsFailure.class, "-Dferro.recorder.dir=" + folder));
            }
            for (Rank rank : ranks) {
                assertEquals("going", rank.line());
            }

            Processes.kill(ranks.get(1).process.pid());

            for (int rank : new int[] {0, 2}) {
                assertEquals(3, ranks.get(rank).process.waitFor());
                String record = Files.readString(folder.resolve("ferro-default-rank" + rank + ".json"));
                assertTrue(record.contains("\"failure\":{\"code\":\"PEER_LOST\",\"culprits\":[1]"), record);
                assertTrue(record.contains("\"state\":\"failed\",\"code\":\"PEER_LOST\""), record);
                assertTrue(record.endsWith("]}\n"), record);
            }
        } finally {
            ranks.forEach(rank -> Processes.kill(rank.process.pid()));
        }
    }

    /** A process and what it prints. */
    private record Rank(int rank, Process process, BufferedReader out) {
        static Rank start(int rank, int port, Class<?> program, String... options) throws IOException {
            List<String> command = new ArrayList<>(List.of(LauncherRun.java()));
            command.addAll(List.of(options));
            command.addAll(List.of(
                    "-Xmx64m",
                    "-XX:TieredStopAtLevel=1",
                    "--enable-native-access=ALL-UNNAMED",
                    "-Dferro.backend=tcp",
                    "-Dferro.rendezvous=tcp://127.0.0.1:" + port,
                    "-cp",
                    LauncherRun.classPath(),
                    program.getName()));
            ProcessBuilder builder = new ProcessBuilder(command);
            builder.environment().put("RANK", Integer.toString(rank));
            builder.environment().put("WORLD_SIZE", Integer.toString(WORLD_SIZE));
            builder.environment().put("FERRO_STORE_SERVED", "1");
            Process process = builder.redirectError(Redirect.DISCARD).start();
            return new Rank(rank, process, process.inputReader());
        }

        String line() throws IOException {
            return out.readLine();
        }
    }
}
