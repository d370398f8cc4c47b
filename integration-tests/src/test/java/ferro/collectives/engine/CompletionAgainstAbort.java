package ferro.collectives.engine;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** An operation completes and fails at once: it has one end, and both threads that ended it see the same end. */
@JCStressTest
@Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "the end of the operation came first")
@Outcome(id = "2, 2", expect = ACCEPTABLE, desc = "the failure came first")
@Outcome(expect = FORBIDDEN, desc = "two ends, or none")
@State
public class CompletionAgainstAbort {
    // @start region="threads"
    private final PendingWork work = Alone.work();

    /** The thread that makes progress completes the operation. */
    @Actor
    public void completes(II_Result result) {
        work.succeed(1, 8);
        result.r1 = EngineOutcome.of(work);
    }

    /** The thread that settles a failure of the group fails the operation. */
    @Actor
    public void aborts(II_Result result) {
        work.fail(Alone.FAILURE, PendingWork.WorkProgress.NOWHERE);
        result.r2 = EngineOutcome.of(work);
    }
    // @end
}
