package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.group.ProcessGroup;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Rank 1 leaves a group because the parent of the group has failed; rank 2 still calls the group. */
@Timeout(120)
class LeftAfterItsParentTest {
    private static final int RANKS = 3;
    private static final int ABOVE_EAGER = 100_000;

    /** A call of rank 2, which is rank 1 of the group that rank 1 leaves as rank 0. */
    private enum Call {
        COLLECTIVE {
            @Override
            void run(ProcessGroup group) {
                AbortBesideSiblingTest.sum(group, 7, 100);
            }
        },
        RECEIVE {
            @Override
            void run(ProcessGroup group) {
                group.recv(new int[1], 0, 3);
            }
        },
        SEND {
            @Override
            void run(ProcessGroup group) {
                group.send(new int[ABOVE_EAGER], 0, 3);
            }
        },
        NEW_GROUP {
            @Override
            void run(ProcessGroup group) {
                group.newGroup(0, 1);
            }
        };

        abstract void run(ProcessGroup group);
    }

    @ParameterizedTest
    @EnumSource(Call.class)
    void aGroupFailsWithTheCauseOfItsParentInEachCall(Call call) {
        try (TcpJob job = new TcpJob(RANKS, Duration.ofSeconds(60), Map.of())) {
            List<ProcessGroup> groups = job.joinAll("g");
            List<ProcessGroup> children = TcpJob.onAll(groups.subList(1, RANKS), group -> group.newGroup(1, 2));

            assertEndsWithTheParent(call, groups, children);
        }
    }

    @Tag("long")
    @ParameterizedTest
    @EnumSource(Call.class)
    void theLastOfNestedGroupsFailsWithTheCauseOfTheFirst(Call call) {
        try (TcpJob job = new TcpJob(RANKS, Duration.ofSeconds(60), Map.of())) {
            List<ProcessGroup> groups = job.joinAll("g");
            List<ProcessGroup> last = TcpJob.onAll(
                    groups.subList(1, RANKS), group -> group.newGroup(1, 2).newGroup(0, 1));

            assertEndsWithTheParent(call, groups, last);
        }
    }

    private static void assertEndsWithTheParent(Call call, List<ProcessGroup> groups, List<ProcessGroup> children) {
        TcpJob.onAll(children, group -> AbortBesideSiblingTest.sum(group, 3, 100));
        groups.get(0).abort(new IllegalStateException("no labels"));
        TcpJob.onAll(groups.subList(1, RANKS), group -> TcpJob.failure(group::barrier));

        children.get(0).close();
        groups.get(1).close();
        FerroException failure = TcpJob.failure(() -> call.run(children.get(1)));

        assertEquals(Code.ABORTED, failure.code(), failure.getMessage());
        assertTrue(failure.getMessage().contains("no labels"), failure.getMessage());
        assertTrue(failure.getMessage().contains("rank 0 (rank 1 of \"g\") left group"), failure.getMessage());
        children.get(1).close();
    }
}
