package ferro.control.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import ferro.control.failure.Failure;
import ferro.spi.CallHeader;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A call that ranks make after several others have left. The failure names all ranks that will never make the call. */
class SeveralLeaversTest {
    private static final Duration GOODBYES = Duration.ofMillis(51);

    @Test
    void aCallThatBeginsBetweenTwoGoodbyesNamesBothRanks() {
        HandDriven group = new HandDriven(4);
        group.leave(1, 1);
        refuse(group, 2);
        assertNull(group.ranks.get(0).failure(), "rank 2 may be leaving too");
        group.leave(2, 1);
        refuse(group, 2);
        group.pass(GOODBYES);

        Failure failure = group.ranks.get(0).failure();
        assertEquals(Set.of(1, 2), failure.culprits());
        assertEquals(
                "ranks 1, 2 left group \"dp\" after seq 1; this call is seq 2 (barrier): if ranks 1, 2 should have taken"
                        + " part, their own output may say why they left",
                failure.text());
    }

    @Test
    void ranksThatLeftAtDifferentTimesAreNamedWithTheirLastCalls() {
        HandDriven group = new HandDriven(5);
        group.leave(1, 0);
        group.leave(2, 1);
        group.leave(3, 2);
        refuse(group, 2);
        group.pass(GOODBYES);

        Failure failure = group.ranks.get(0).failure();
        assertEquals(Set.of(1, 2), failure.culprits(), "rank 3 has made the call");
        assertEquals(
                "rank 1 left group \"dp\" before its first collective, rank 2 after seq 1; this call is seq 2 (barrier): if"
                        + " ranks 1, 2 should have taken part, their own output may say why they left",
                failure.text());
    }

    @Test
    void aCallFailsAtOnceIfAllOtherRanksHaveLeft() {
        HandDriven group = new HandDriven(3);
        group.leave(2, 1);
        group.leave(1, 1);
        refuse(group, 2);

        assertEquals(Set.of(1, 2), group.ranks.get(0).failure().culprits());
    }

    @Test
    void aCallFailsAtOnceIfTheLastLeaveIsLongAgo() {
        HandDriven group = new HandDriven(3);
        group.leave(1, 1);
        group.pass(GOODBYES);
        refuse(group, 2);

        assertEquals(Set.of(1), group.ranks.get(0).failure().culprits());
    }

    @Test
    void aCallWaitsOnlyForTheRestOfTheGoodbyeTime() {
        HandDriven group = new HandDriven(3);
        group.leave(1, 1);
        group.pass(GOODBYES.dividedBy(2));
        refuse(group, 2);
        assertNull(group.ranks.get(0).failure(), "rank 2 may be leaving too");
        group.pass(GOODBYES.dividedBy(2));

        assertEquals(Set.of(1), group.ranks.get(0).failure().culprits());
    }

    private static void refuse(HandDriven group, long sequence) {
        group.ranks
                .get(0)
                .exits()
                .refuse(sequence, CallHeader.of(9, sequence, 77, "barrier").call());
    }
}
