package ferro.collectives.engine;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** A thread reads an operation while it fails: if the operation is done, it shows its failure. */
@JCStressTest
@Outcome(id = "0", expect = ACCEPTABLE, desc = "not yet")
@Outcome(id = "2", expect = ACCEPTABLE, desc = "failed")
@Outcome(expect = FORBIDDEN, desc = "done without its failure")
@State
public class LookAtAFailure {
    private final PendingWork work = Alone.work();

    /** The thread that settles a failure of the group. */
    @Actor
    public void aborts() {
        work.fail(Alone.FAILURE, PendingWork.WorkProgress.NOWHERE);
    }

    @Actor
    public void looks(I_Result result) {
        result.r1 = EngineOutcome.of(work);
    }
}
