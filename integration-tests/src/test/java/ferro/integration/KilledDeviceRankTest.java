package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.backend.tcp.TcpStoreServer;
import ferro.integration.drill.Drill;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How the others end when a rank of NCCL is killed in the midst of a call. */
@Tag("long")
@ExtendWith(StandInPair.class)
@Timeout(120)
class KilledDeviceRankTest {
    private static final int WORLD_SIZE = 3;
    private static final long DEADLINE_MILLIS = 20_000;
    /** Until the others know who is gone, and NCCL has aborted. */
    private static final long PROMISED_MILLIS = 500;

    private static final int VICTIM = 1;

    @ParameterizedTest(name = "NCCL hears nothing of it: {0}")
    @ValueSource(booleans = {true, false})
    @DisplayName(
            "1-32: kill -9 of a rank of NCCL ends the others long before their deadline, and they blame nobody else")
    void theOthersEndByTheirDeadline(boolean silent) throws IOException {
        List<Process> ranks = new ArrayList<>();
        try (TcpStoreServer store =
                TcpStoreServer.start(InetAddress.getLoopbackAddress(), 0, "default", WORLD_SIZE, null)) {
            List<BufferedReader> said = new ArrayList<>();
            for (int rank = 0; rank < WORLD_SIZE; rank++) {
                Process process = start(rank, store.port(), silent);
                ranks.add(process);
                said.add(process.inputReader());
            }
            for (BufferedReader rank : said) {
                assertEquals("going", rank.readLine());
            }

            long killed = System.nanoTime();
            Processes.kill(ranks.get(VICTIM).pid());

            for (int survivor : new int[] {0, 2}) {
                String failed = said.get(survivor).readLine();
                long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - killed);
                said.get(survivor).readLine();
                String message = said.get(survivor).readLine();
                // NCCL knows at most that a rank is gone, and not which
                assertEquals("failed PEER_LOST by " + VICTIM, failed, message);
                assertTrue(millis <= Drill.allowedMillis(PROMISED_MILLIS), millis + " ms until " + message);
                assertTrue(message.contains("rank " + survivor), message);
            }
        } finally {
            ranks.forEach(rank -> Processes.kill(rank.pid()));
        }
    }

    private static Process start(int rank, int port, boolean silent) throws IOException {
        List<String> options = List.of("-Xmx64m", "-Dferro.backend=nccl", "-Dferro.rendezvous=tcp://127.0.0.1:" + port);
        ProcessBuilder builder = new ProcessBuilder(
                JavaLine.rank(options, DeviceSumsUntilAFailure.class.getName(), "" + DEADLINE_MILLIS));
        builder.environment().putAll(StandInPair.variables("STANDIN_SILENT_DEATHS", silent ? "1" : "0"));
        builder.environment().put("RANK", "" + rank);
        builder.environment().put("WORLD_SIZE", "" + WORLD_SIZE);
        builder.environment().put("LOCAL_RANK", "" + rank);
        builder.environment().put("LOCAL_WORLD_SIZE", "" + WORLD_SIZE);
        builder.environment().put("FERRO_STORE_SERVED", "1");
        return builder.redirectError(Redirect.DISCARD).start();
    }
}
