package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Child;
import ferro.harness.Job;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A rank that is killed once it has said goodbye, while another has not yet taken what it sent over TCP. */
@Timeout(120)
class KilledLeaverTest {
    private static final int WORLD_SIZE = 3;

    @Test
    void dataOfARankThatIsKilledInItsLastCloseStillArrives() throws Exception {
        List<String> line = JavaLine.rank(List.of("-Xmx64m"), LeavesBeforeTheLate.class.getName());
        try (Job job = Job.start(WORLD_SIZE, Map.of("FERRO_LINKS", "tcp"), line)) {
            for (Child rank : job.ranks()) {
                String report = rank.next();
                assertTrue(report.endsWith("do not share memory: ferro.links=tcp"), report);
            }
            String heard = job.rank(2).next();
            assertTrue(heard.startsWith("heard: ") && heard.matches(".*ranks? 0\\b.* left .*"), heard);

            job.rank(0).kill();
            job.rank(0).exitCode();
            Child late = job.rank(1);
            late.write("");

            assertEquals("broadcast: 12000", late.next());
            for (int message = 0; message < LeavesBeforeTheLate.MESSAGES; message++) {
                assertEquals("message " + message + ": " + 4_000 * message, late.next());
            }
            String then = late.next();
            assertTrue(then.startsWith("then: PEER_LOST ") && then.matches(".*ranks? 0\\b.* left .*"), then);
        }
    }
}
