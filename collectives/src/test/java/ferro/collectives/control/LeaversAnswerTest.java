package ferro.collectives.control;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.spi.CallHeader;
import java.util.BitSet;
import org.junit.jupiter.api.Test;

/** Questions to ranks that have left: they may be gone for good, and are not to blame for it. */
class LeaversAnswerTest {
    private static final CallHeader SUM = CallHeader.of(9, 3, 77, "allReduce f32[4] sum");

    @Test
    void aGoodbyeIsTheAnswerToWhateverIsAskedLater() {
        HandDriven group = new HandDriven(3);
        group.ranks.get(0).called(SUM.sequence(), SUM.call());
        group.ranks.get(1).called(SUM.sequence(), SUM.call());
        group.ranks.get(1).leave(new BitSet(), Leaving.Until.ALL_HAVE_ALL);
        group.deliverAll();
        group.stop(1);
        group.stop(2);

        long ask = group.ranks.get(0).ask(SUM);
        group.deliverAll();

        assertEquals("{2}", group.ranks.get(0).silentTo(ask).toString(), "who is silent");
        BitSet waitedFor = new BitSet();
        waitedFor.set(2);
        Diagnosis.Verdict verdict =
                group.ranks.get(0).diagnosis(ask, ask, SUM.sequence()).ofCollective(waitedFor);
        assertEquals("{2}", verdict.culprits().toString(), verdict.text());
    }
}
