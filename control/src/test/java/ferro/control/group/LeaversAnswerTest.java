package ferro.control.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException.Code;
import ferro.control.failure.Diagnosis;
import ferro.control.failure.Failure;
import ferro.spi.CallHeader;
import java.time.Duration;
import java.util.BitSet;
import org.junit.jupiter.api.Test;

/** Questions to ranks that have left: they may be gone for good, and are not to blame for it. */
class LeaversAnswerTest {
    private static final CallHeader SUM = CallHeader.of(9, 3, 77, "allReduce f32[4] sum");

    private static final CallHeader MAX = CallHeader.of(9, 3, 78, "allReduce f32[4] max");

    @Test
    void aGoodbyeIsTheAnswerToWhateverIsAskedLater() {
        HandDriven group = new HandDriven(3);
        group.ranks.get(0).called(SUM.sequence(), SUM.call());
        group.ranks.get(1).called(SUM.sequence(), SUM.call());
        group.ranks.get(1).leave(new BitSet(), GracefulExit.ExitLimit.ALL_HAVE_ALL);
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
    void aLeaverThatMadeAnotherCallIsFoundByTheCallItselfAndNotByTheNextOne() {
        HandDriven group = new HandDriven(2);
        group.ranks.get(1).called(SUM.sequence(), SUM.call());
        group.ranks.get(1).leave(new BitSet(), GracefulExit.ExitLimit.ALL_HAVE_ALL);
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
    void aRankThatLeavesAfterAnotherCallThanTheLastLeaverHearsSoAtOnce() {
        HandDriven group = new HandDriven(2);
        group.ranks.get(1).called(SUM.sequence(), SUM.call());
        group.ranks.get(1).leave(new BitSet(), GracefulExit.ExitLimit.ALL_HAVE_ALL);
        group.deliverAll();
        group.stop(1);
        group.ranks.get(0).called(MAX.sequence(), MAX.call());

        group.ranks.get(0).settleWithLeavers();

        assertEquals(Code.MISMATCH, group.ranks.get(0).failure().code());
    }
}
