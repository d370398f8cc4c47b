package ferro.recorder;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;

/** An entry is read while a newer one replaces it: the reader gets the whole old entry, or nothing. */
@JCStressTest
@Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "the old entry")
@Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "nothing: it is being replaced, or was")
@Outcome(expect = FORBIDDEN, desc = "half of one, half of the other")
@State
public class ReadWhileReplaced {
    private final OperationRing ring = new OperationRing(1);

    public ReadWhileReplaced() {
        write(1);
    }

    private void write(long value) {
        int entry = ring.claim();
        OperationRing.RingEntry at = ring.at(entry);
        at.sequence = value;
        at.bytes = value;
        ring.show(entry, OperationRing.QUEUED);
    }

    @Actor
    public void replaces() {
        write(2);
    }

    /** Reads the entry, as when the file is written. */
    @Actor
    public void reads(JJ_Result result) {
        OperationRing.RingEntry entry = ring.read(1);
        if (entry != null) {
            result.r1 = entry.sequence;
            result.r2 = entry.bytes;
        }
    }
}
