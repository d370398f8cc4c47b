package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Child;
import ferro.harness.Job;
import ferro.integration.drill.Cell;
import ferro.integration.drill.Drill;
import ferro.integration.drill.DrillFault;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
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
    static final int VICTIM = 1;

    private static final int WORLD_SIZE = 3;
    private static final String PAIR = "cpu:tcp,cuda:nccl";
    private static final long FAR_DEADLINE_MILLIS = 60_000;
    private static final long NEAR_DEADLINE_MILLIS = 1_000;

    @Test
    @DisplayName(
            "row 1, row 2: kill -9 of a rank in a collective of NCCL ends all others, which stay alive, as PEER_LOST of"
                    + " that rank, by the control plane of TCP and long before the deadline; both halves and failure() say the same")
    // @start region="processes"
    void aRankKilledDuringADeviceCallIsNamedBeforeTheDeadline() throws Exception {
        try (Job job = start(PAIR, false, FAR_DEADLINE_MILLIS)) {
            job.rank(VICTIM).kill();

            check(job, "PEER_LOST", 1, allowedMillis(DrillFault.STAY));
        }
    }
    // @end

    @Test
    @DisplayName(
            "row 4: a rank that is stopped in the midst of calls of NCCL is named at the deadline on all others, by both"
                    + " halves and failure() alike")
    void aRankStoppedDuringADeviceCallIsNamedAtTheDeadline() throws Exception {
        try (Job job = start(PAIR, false, NEAR_DEADLINE_MILLIS)) {
            job.rank(VICTIM).signal("STOP");

            // who is kept from its core for long, as on a machine that does other work, may not have answered in time
            List<Long> millis = check(
                    job, "TIMED_OUT", Drill.whole() ? 1 : 2, NEAR_DEADLINE_MILLIS + allowedMillis(DrillFault.DEADLINE));
            // the other one may have begun later; whose deadline it was is never early
            assertTrue(Collections.max(millis) >= NEAR_DEADLINE_MILLIS, "knew after " + millis + " ms");
        }
    }

    /** Both halves and failure() say the same, name the victim, and at most so many ranks, so long after the last call. */
    private static List<Long> check(Job job, String code, int most, double allowed) throws InterruptedException {
        List<Long> all = new ArrayList<>();
        for (int survivor : new int[] {0, 2}) {
            Child rank = job.rank(survivor);
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

    static Job start(String backend, boolean silentDeaths, long deadlineMillis)
            throws IOException, InterruptedException {
        Map<String, String> variables =
                StandInPair.variables("STANDIN_SILENT_DEATHS", silentDeaths ? "1" : "0", "FERRO_BACKEND", backend);
        List<String> line = JavaLine.rank(List.of("-Xmx64m"), PairUntilAFailure.class.getName(), "" + deadlineMillis);
        Job job = Job.start(WORLD_SIZE, variables, line);
        for (Child rank : job.ranks()) {
            assertEquals("going", rank.next());
        }
        return job;
    }
}
