package ferro.control.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException.Code;
import ferro.control.failure.Diagnosis;
import ferro.control.failure.Failure;
import ferro.control.failure.FailurePolicy;
import ferro.spi.CallHeader;
import java.time.Duration;
import java.util.BitSet;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Questions to ranks that have left. Such ranks may not answer any more, and are not to blame for that. */
class LeaversAnswerTest {
    private static final CallHeader SUM = CallHeader.of(9, 3, 77, "allReduce f32[4] sum");

    private static final CallHeader MAX = CallHeader.of(9, 3, 78, "allReduce f32[4] max");

    @Test
    void aRankThatHasLeftAnswersLaterQueriesByItsGoodbye() {
        HandDriven group = new HandDriven(3);
        group.ranks.get(0).called(SUM.sequence(), SUM.call());
        group.ranks.get(1).called(SUM.sequence(), SUM.call());
        group.ranks.get(1).leave(new BitSet(), GracefulExit.ExitCondition.ALL_HAVE_ALL);
        group.deliverAll();
        group.stop(1);
        group.stop(2);

        long ask = group.ranks.get(0).inquiry().ask(SUM);
        group.deliverAll();

        assertEquals("{2}", group.ranks.get(0).inquiry().silentTo(ask).toString(), "who is silent");
        BitSet waitedFor = new BitSet();
        waitedFor.set(2);
        Diagnosis.Blame verdict =
                group.ranks.get(0).inquiry().diagnosis(ask, ask, SUM.sequence()).ofCollective(waitedFor);
        assertEquals("{2}", verdict.culprits().toString(), verdict.text());
    }

    @Test
    void aDifferentLastCallOfARankThatLeftIsAMismatchOfThatCall() {
        HandDriven group = new HandDriven(2);
        group.ranks.get(1).called(SUM.sequence(), SUM.call());
        group.ranks.get(1).leave(new BitSet(), GracefulExit.ExitCondition.ALL_HAVE_ALL);
        group.deliverAll();
        group.stop(1);
        group.ranks.get(0).called(MAX.sequence(), MAX.call());

        group.ranks.get(0).exits().fail(1, "this call is seq 4");
        group.pass(Duration.ofMillis(50));

        Failure failure = group.ranks.get(0).failure();
        assertEquals(Code.MISMATCH, failure.code(), failure.text());
        assertTrue(failure.text().contains(SUM.text()) && failure.text().contains(MAX.text()), failure.text());
    }

    @Test
    void aRankThatLeavesAfterADifferentLastCallFailsWithMismatch() {
        HandDriven group = new HandDriven(2);
        group.ranks.get(1).called(SUM.sequence(), SUM.call());
        group.ranks.get(1).leave(new BitSet(), GracefulExit.ExitCondition.ALL_HAVE_ALL);
        group.deliverAll();
        group.stop(1);
        group.ranks.get(0).called(MAX.sequence(), MAX.call());

        group.ranks.get(0).settleWithLeavers();

        assertEquals(Code.MISMATCH, group.ranks.get(0).failure().code());
    }

    @Test
    @DisplayName("a rank that waits for a message of any rank asks all leavers that it hears of for their goodbyes")
    void aReceiveFromAnyRankAsksTheRanksThatLeftForTheirGoodbyes() {
        HandDriven group = HandDriven.withMesh(40, 4, FailurePolicy.SHIPPED);
        group.leave(20, 1);
        group.leave(7, 3);
        GracefulExits exits = group.ranks.get(0).exits();
        assertFalse(exits.leavers().has(7), "all ranks hear of the lowest leaver only");
        // rank 8 is a neighbour of ranks 0 and 7
        group.leave(8, 3);
        assertTrue(exits.leavers().has(7), "the goodbye of rank 8 says that rank 7 had left before");
        assertFalse(exits.has(7) || exits.has(20), "they are no neighbours of rank 0");

        exits.followLeavers();
        group.deliverAll();

        assertTrue(exits.has(7) && exits.has(20));
    }

    @Test
    @DisplayName("a rank that replaces a neighbour is told of the lowest leaver, of which it may not have heard")
    void aNewNeighbourReceivesTheLowestLeave() {
        HandDriven group = HandDriven.withMesh(40, 4, FailurePolicy.SHIPPED);
        group.standStill(9, true);
        group.leave(20, 1);
        for (int rank = 0; rank < 40; rank++) {
            group.drop(rank, 9);
        }
        group.standStill(9, false);
        assertFalse(group.ranks.get(9).exits().any());

        group.leave(8, 3);

        assertEquals(20, group.ranks.get(9).exits().leavers().before(2));
    }

    @Test
    @DisplayName(
            "a rank that has left answers a goodbye with its own, so no leave waits for a message that it never takes")
    void aRankThatHasLeftAnswersAGoodbyeWithItsOwn() {
        HandDriven group = HandDriven.withMesh(40, 4, FailurePolicy.SHIPPED);
        group.leave(7, 3);
        GracefulExits exits = group.ranks.get(0).exits();
        assertFalse(exits.has(7), "they are no neighbours");
        exits.messages().of(7).nextSent();
        boolean[] over = leaveOfRank0(group, GracefulExit.ExitCondition.ALL_HAVE_ALL);

        assertTrue(exits.has(7));
        assertTrue(over[0]);
    }

    @ParameterizedTest
    @ValueSource(ints = {4, 40})
    @DisplayName("a leave does not wait for a receiver that is silent before it or during it")
    void aLeaveDoesNotWaitForASilentReceiver(int maxMesh) {
        HandDriven group = HandDriven.withMesh(40, maxMesh, FailurePolicy.SHIPPED);
        group.stop(1);
        group.stop(2);
        group.silent(0, 1);
        boolean[] over = leaveOfRank0(group, GracefulExit.ExitCondition.ALL_HAVE_HEARD);
        assertFalse(over[0], "rank 2 has not answered");
        group.silent(0, 2);
        assertTrue(over[0]);
    }

    /** Lets rank 0 leave and delivers all messages. The element becomes true when the leave is over. */
    private static boolean[] leaveOfRank0(HandDriven group, GracefulExit.ExitCondition limit) {
        boolean[] over = new boolean[1];
        group.ranks.get(0).leave(new BitSet(), limit).whenOver(() -> over[0] = true);
        group.deliverAll();
        return over;
    }
}
