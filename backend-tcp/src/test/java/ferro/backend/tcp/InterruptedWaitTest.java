package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.group.ProcessGroup;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A thread that waits for other ranks is interrupted: the texts of all ranks name its rank. */
@Timeout(60)
class InterruptedWaitTest {
    @Test
    void anInterruptedNewGroupNamesItsRankOnAllRanks() {
        try (TcpJob job = TcpJob.of(3)) {
            List<ProcessGroup> groups = job.joinAll("g");

            FerroException own = TcpJob.onAll(groups.subList(1, 2), group -> {
                        Thread.currentThread().interrupt();
                        return TcpJob.failure(() -> group.newGroup(0, 1, 2));
                    })
                    .get(0);
            // rank 2 has not called yet, so rank 0 cannot make the group before it learns what rank 1 gave up
            FerroException first = TcpJob.failure(() -> groups.get(0).newGroup(0, 1, 2));
            // what was given up may still be on its way to rank 2: then newGroup succeeds, and the new group fails
            ProcessGroup two = groups.get(2);
            FerroException last = TcpJob.failure(() -> two.newGroup(0, 1, 2).barrier());

            assertSays(Code.INTERRUPTED, Set.of(), own);
            List.of(first, last).forEach(other -> assertSays(Code.ABORTED, Set.of(1), other));
        }
    }

    private static void assertSays(Code code, Set<Integer> culprits, FerroException failure) {
        String text = failure.getMessage();
        assertEquals(code, failure.code(), text);
        assertTrue(text.contains("rank 1 was interrupted in newGroup([0, 1, 2])"), text);
        assertEquals(culprits, failure.where().culprits(), text);
    }
}
