package ferro.control.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.control.failure.ControlMessage.LeaveReport;
import ferro.control.failure.FailurePolicy;
import ferro.spi.CallHeader;
import java.time.Duration;
import java.util.BitSet;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Leaves that arrive only at ranks that leave themselves. */
class LeaversForwardTest {
    private static final int SIZE = 40;
    private static final int LOWEST = 21;

    @Test
    @DisplayName("a rank leaves together with all its neighbours, after an earlier call: the other ranks hear of it")
    void ranksThatHaveLeftForwardALowerLeave() {
        HandDriven.seeds(10, seed -> {
            HandDriven group = HandDriven.withMesh(SIZE, 4, FailurePolicy.SHIPPED);
            GracefulExits exits = group.ranks.get(LOWEST).exits();
            int[] neighbours = IntStream.range(0, SIZE)
                    .filter(exits.neighbours()::isNeighbour)
                    .toArray();

            // no rank has received a goodbye when the others leave
            leave(group, LOWEST, 1).whenOver(() -> group.close(LOWEST));
            IntStream.of(neighbours).forEach(rank -> leave(group, rank, 3));
            // only the neighbours receive this goodbye, and the rank closes before another rank can ask for one
            othersStandStill(group, exits, true);
            group.deliverAll(new Random(seed), false);
            othersStandStill(group, exits, false);
            group.deliverAll(new Random(seed), false);

            for (int rank = 0; rank < SIZE; rank++) {
                if (rank != LOWEST && !exits.neighbours().isNeighbour(rank)) {
                    int lowest = group.ranks.get(rank).exits().leavers().before(2);
                    assertEquals(LOWEST, lowest, "the leaver of which rank " + rank + " has heard");
                }
            }
        });
    }

    @Test
    void anEqualLeaveIsForwardedLaterAlsoAfterALowerOne() {
        HandDriven group = HandDriven.withMesh(SIZE, 4, FailurePolicy.SHIPPED);
        GracefulExits exits = group.ranks.get(0).exits();
        // the second leave waits for its turn, and the third one is sent before it
        exits.lower(new LeaveReport(LOWEST + 1, 3, 77, "barrier"));
        exits.lower(new LeaveReport(LOWEST, 3, 77, "barrier"));
        exits.lower(new LeaveReport(LOWEST + 1, 1, 77, "barrier"));
        group.pass(Duration.ofMillis(100));
        int before = group.sent(LeaveReport.class);

        exits.lower(new LeaveReport(LOWEST, 1, 77, "barrier"));
        group.pass(Duration.ofMillis(100));

        assertTrue(group.sent(LeaveReport.class) > before, "messages about the leave of the lower rank");
    }

    private static void othersStandStill(HandDriven group, GracefulExits exits, boolean stand) {
        for (int rank = 0; rank < SIZE; rank++) {
            group.standStill(
                    rank, stand && rank != LOWEST && !exits.neighbours().isNeighbour(rank));
        }
    }

    private static GracefulExit leave(HandDriven group, int rank, long sequence) {
        group.ranks.get(rank).called(sequence, new CallHeader.Call(9, 77, "barrier"));
        group.ended[rank] = sequence;
        return group.ranks.get(rank).leave(new BitSet(), GracefulExit.ExitCondition.ALL_HAVE_ALL);
    }
}
