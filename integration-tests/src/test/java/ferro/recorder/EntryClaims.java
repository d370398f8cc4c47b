package ferro.recorder;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Two threads of a rank each begin an operation: each gets an entry of its own. */
@JCStressTest
@Outcome(
        id = {"1, 2", "2, 1"},
        expect = ACCEPTABLE,
        desc = "one after the other")
@Outcome(expect = FORBIDDEN, desc = "an entry given twice, or none though there was room")
@State
public class EntryClaims {
    private final OperationRing ring = new OperationRing(4);

    @Actor
    public void one(II_Result result) {
        result.r1 = ring.claim();
    }

    @Actor
    public void other(II_Result result) {
        result.r2 = ring.claim();
    }
}
