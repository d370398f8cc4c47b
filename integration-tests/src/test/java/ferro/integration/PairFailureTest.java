package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.backend.tcp.TcpStoreServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** How the ranks of {@code cpu:tcp,cuda:nccl} end in the midst of a call on the device: TCP is the control plane of NCCL. */
@ExtendWith(StandInPair.class)
@Timeout(120)
class PairFailureTest {
    private static final int WORLD_SIZE = 3;
    private static final int VICTIM = 1;
    private static final long FAR_DEADLINE_MILLIS = 60_000;
    private static final long NEAR_DEADLINE_MILLIS = 1_000;
    /** The promise is 100 ms on an idle machine; this one may be anything but idle. */
    private static final long LATE_MILLIS = 2_500;

    @Test
    @DisplayName(
            "row 1, row 2: kill -9 of a rank in a collective of NCCL ends all others, which stay alive, as PEER_LOST of"
                    + " that rank, by the control plane of TCP and long before the deadline; both halves and failure() say the same")
    void aKilledRankIsNamedLongBeforeTheDeadline() throws IOException {
        List<Process> ranks = new ArrayList<>();
        try (TcpStoreServer store = store()) {
            List<BufferedReader> said = start(ranks, store, FAR_DEADLINE_MILLIS);

            Processes.kill(ranks.get(VICTIM).pid());

            check(said, "PEER_LOST of rank " + VICTIM, LATE_MILLIS);
        } finally {
            ranks.forEach(rank -> Processes.kill(rank.pid()));
        }
    }

    @Test
    @DisplayName(
            "row 4: a rank that is stopped in the midst of calls of NCCL is named at the deadline on all others, by both"
                    + " halves and failure() alike")
    void aStoppedRankIsNamedAtTheDeadline() throws Exception {
        List<Process> ranks = new ArrayList<>();
        try (TcpStoreServer store = store()) {
            List<BufferedReader> said = start(ranks, store, NEAR_DEADLINE_MILLIS);

            long pid = ranks.get(VICTIM).pid();
            assertEquals(
                    0, new ProcessBuilder("kill", "-STOP", "" + pid).start().waitFor());

            check(said, "TIMED_OUT of rank " + VICTIM, NEAR_DEADLINE_MILLIS + LATE_MILLIS);
        } finally {
            ranks.forEach(rank -> Processes.kill(rank.pid()));
        }
    }

    private static void check(List<BufferedReader> said, String story, long boundMillis) throws IOException {
        for (int survivor : new int[] {0, 2}) {
            BufferedReader rank = said.get(survivor);
            List<String> lines = List.of(rank.readLine(), rank.readLine(), rank.readLine());
            String millis = rank.readLine();
            String message = rank.readLine();
            System.out.println("rank " + survivor + " knew after " + millis + " ms: " + message);
            assertEquals(List.of("call " + story, "group " + story, "host " + story), lines, message);
            assertTrue(Long.parseLong(millis) < boundMillis, millis + " ms until " + message);
        }
    }

    private static TcpStoreServer store() throws IOException {
        return TcpStoreServer.start(InetAddress.getLoopbackAddress(), 0, "default", WORLD_SIZE, null);
    }

    /** Starts the ranks and waits until all are in the midst of it. */
    private static List<BufferedReader> start(List<Process> ranks, TcpStoreServer store, long deadlineMillis)
            throws IOException {
        List<BufferedReader> said = new ArrayList<>();
        for (int rank = 0; rank < WORLD_SIZE; rank++) {
            Process process = start(rank, store.port(), deadlineMillis);
            ranks.add(process);
            said.add(process.inputReader());
        }
        for (BufferedReader rank : said) {
            assertEquals("going", rank.readLine());
        }
        return said;
    }

    private static Process start(int rank, int port, long deadlineMillis) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(
                LauncherRun.java(),
                "-Xmx64m",
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "-Dferro.backend=cpu:tcp,cuda:nccl",
                "-Dferro.rendezvous=tcp://127.0.0.1:" + port,
                "-cp",
                LauncherRun.classPath(),
                PairUntilAFailure.class.getName(),
                "" + deadlineMillis);
        builder.environment().putAll(StandInPair.variables());
        builder.environment().put("RANK", "" + rank);
        builder.environment().put("WORLD_SIZE", "" + WORLD_SIZE);
        builder.environment().put("LOCAL_RANK", "" + rank);
        builder.environment().put("LOCAL_WORLD_SIZE", "" + WORLD_SIZE);
        builder.environment().put("FERRO_STORE_SERVED", "1");
        return builder.redirectError(Redirect.DISCARD).start();
    }
}
