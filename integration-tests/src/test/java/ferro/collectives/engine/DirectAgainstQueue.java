package ferro.collectives.engine;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import ferro.collectives.engine.OperationQueue.Operation;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;

/** One thread bypasses the queue while another one queues: no operation overtakes one with a lower number. */
@JCStressTest
@Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "the queued one is first, the other one queues as well")
@Outcome(id = "1, 2", expect = ACCEPTABLE, desc = "the direct one is first")
@Outcome(expect = FORBIDDEN, desc = "the direct one runs with the higher number while the lower one waits")
@State
public class DirectAgainstQueue {
    private final ProgressLock turn = new ProgressLock();
    private final Operation queued = new Operation(Alone.work(), null, null, null, null);

    /** Takes the fast path past the queue, as a blocking call does. */
    @Actor
    public void direct(JJ_Result result) {
        long seen = turn.look();
        result.r1 = turn.isEmpty() ? turn.tryEnterAsNext(seen) : ProgressLock.NONE;
    }

    @Actor
    public void queues(JJ_Result result) {
        turn.add(queued);
        result.r2 = queued.sequence();
    }
}
