package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.backend.tcp.TcpStoreServer;
import ferro.integration.drill.Cell;
import ferro.integration.drill.Drill;
import ferro.integration.drill.DrillFault;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** How the ranks of {@code cpu:tcp,cuda:nccl} end in the midst of a call on the device: TCP is the control plane of NCCL. */
@Tag("long")
@ExtendWith(StandInPair.class)
@Timeout(120)
class PairFailureTest {
    private static final int WORLD_SIZE = 3;
    private static final int VICTIM = 1;
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final long FAR_DEADLINE_MILLIS = 60_000;
    private static final long NEAR_DEADLINE_MILLIS = 1_000;

    @Test
    @DisplayName(
            "row 1, row 2: kill -9 of a rank in a collective of NCCL ends all others, which stay alive, as PEER_LOST of"
                    + " that rank, by the control plane of TCP and long before the deadline; both halves and failure() say the same")
    void aKilledRankIsNamedLongBeforeTheDeadline() throws Exception {
        List<Process> ranks = new ArrayList<>();
        try (TcpStoreServer store = store()) {
            List<PrintedLines> said = start(ranks, store, FAR_DEADLINE_MILLIS);

            Processes.kill(ranks.get(VICTIM).pid());

            check(said, "PEER_LOST", 1, allowedMillis(DrillFault.STAY));
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
            List<PrintedLines> said = start(ranks, store, NEAR_DEADLINE_MILLIS);

            long pid = ranks.get(VICTIM).pid();
            assertEquals(
                    0, new ProcessBuilder("kill", "-STOP", "" + pid).start().waitFor());

            // who is kept from its core for long, as on a machine that does other work, may not have answered in time
            List<Long> millis = check(
                    said,
                    "TIMED_OUT",
                    Drill.whole() ? 1 : 2,
                    NEAR_DEADLINE_MILLIS + allowedMillis(DrillFault.DEADLINE));
            // the other one may have begun later; whose deadline it was is never early
            assertTrue(Collections.max(millis) >= NEAR_DEADLINE_MILLIS, "knew after " + millis + " ms");
        } finally {
            ranks.forEach(rank -> Processes.kill(rank.pid()));
        }
    }

    /** Both halves and failure() say the same, name the victim, and at most so many ranks, so long after the last call. */
    private static List<Long> check(List<PrintedLines> said, String code, int most, double allowed)
            throws InterruptedException {
        List<Long> all = new ArrayList<>();
        for (int survivor : new int[] {0, 2}) {
            PrintedLines rank = said.get(survivor);
            List<String> lines = List.of(rank.next(), rank.next(), rank.next());
            String millis = rank.next();
            String message = rank.next();
            System.out.println("rank " + survivor + " knew after " + millis + " ms: " + message);
            String story = lines.get(0).replaceFirst("^call ", "");
            assertEquals(List.of("call " + story, "group " + story, "host " + story), lines, message);
            assertTrue(story.startsWith(code + " of rank "), story);
            List<String> blamed =
                    List.of(story.substring(story.lastIndexOf(' ') + 1).split(","));
            assertTrue(blamed.contains("" + VICTIM) && blamed.size() <= most, story);
            assertTrue(Long.parseLong(millis) <= allowed, millis + " ms until " + message);
            all.add(Long.parseLong(millis));
        }
        return all;
    }

    /** As promised on one host, whatever carries the data: the abort of a stand-in takes no time. */
    private static double allowedMillis(DrillFault fault) {
        return Drill.allowedMillis(fault.promisedMillis(Cell.Load.IDLE, WORLD_SIZE, Drill.cores()));
    }

    private static TcpStoreServer store() throws IOException {
        return TcpStoreServer.start(InetAddress.getLoopbackAddress(), 0, "default", WORLD_SIZE, null);
    }

    /** Starts the ranks and waits until all are in the midst of it. */
    private static List<PrintedLines> start(List<Process> ranks, TcpStoreServer store, long deadlineMillis)
            throws IOException, InterruptedException {
        List<PrintedLines> said = new ArrayList<>();
        for (int rank = 0; rank < WORLD_SIZE; rank++) {
            Process process = start(rank, store.port(), deadlineMillis);
            ranks.add(process);
            said.add(new PrintedLines(process.getInputStream(), "rank " + rank, PATIENCE));
        }
        for (PrintedLines rank : said) {
            assertEquals("going", rank.next());
        }
        return said;
    }

    private static Process start(int rank, int port, long deadlineMillis) throws IOException {
        List<String> options =
                List.of("-Xmx64m", "-Dferro.backend=cpu:tcp,cuda:nccl", "-Dferro.rendezvous=tcp://127.0.0.1:" + port);
        ProcessBuilder builder =
                new ProcessBuilder(JavaLine.rank(options, PairUntilAFailure.class.getName(), "" + deadlineMillis));
        builder.environment().putAll(StandInPair.variables());
        builder.environment().put("RANK", "" + rank);
        builder.environment().put("WORLD_SIZE", "" + WORLD_SIZE);
        builder.environment().put("LOCAL_RANK", "" + rank);
        builder.environment().put("LOCAL_WORLD_SIZE", "" + WORLD_SIZE);
        builder.environment().put("FERRO_STORE_SERVED", "1");
        return builder.redirectError(Redirect.DISCARD).start();
    }
}
