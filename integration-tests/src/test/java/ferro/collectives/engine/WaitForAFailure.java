package ferro.collectives.engine;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import ferro.FerroException;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** A caller waits for an operation while it fails: the wait ends with the failure. */
@JCStressTest
@Outcome(id = "2", expect = ACCEPTABLE, desc = "failed")
@Outcome(expect = FORBIDDEN, desc = "the wait ended otherwise")
@State
public class WaitForAFailure {
    private final PendingWork work = Alone.work();

    /** The thread that settles a failure of the group. */
    @Actor
    public void aborts() {
        work.fail(Alone.FAILURE, PendingWork.WorkProgress.NOWHERE);
    }

    /** The thread that waits, and makes progress meanwhile. */
    @Actor
    public void waits(I_Result result) {
        try {
            work.await();
            result.r1 = EngineOutcome.WELL;
        } catch (FerroException failure) {
            result.r1 = EngineOutcome.FAILED;
        }
    }
}
