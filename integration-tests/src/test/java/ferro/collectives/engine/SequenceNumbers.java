package ferro.collectives.engine;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJJ_Result;

/** Two threads of a rank number their operations: each number is given once, and none is left out. */
@JCStressTest
@Outcome(
        id = {"1, 2, 3", "2, 1, 3"},
        expect = ACCEPTABLE,
        desc = "one after the other")
@Outcome(expect = FORBIDDEN, desc = "a number given twice, or left out")
@State
public class SequenceNumbers {
    private final ProgressLock turn = new ProgressLock();

    @Actor
    public void one(JJJ_Result result) {
        result.r1 = turn.next();
    }

    @Actor
    public void other(JJJ_Result result) {
        result.r2 = turn.next();
    }

    @Arbiter
    public void next(JJJ_Result result) {
        result.r3 = turn.next();
    }
}
