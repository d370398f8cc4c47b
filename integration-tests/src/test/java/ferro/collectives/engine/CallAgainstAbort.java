package ferro.collectives.engine;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** One thread calls while another aborts the group: the call ends, well or with the failure, and no later call ends well. */
@JCStressTest
@Outcome(id = "1, 2", expect = ACCEPTABLE, desc = "the call came first")
@Outcome(id = "2, 2", expect = ACCEPTABLE, desc = "the abort came first")
@Outcome(expect = FORBIDDEN, desc = "a call that ends well on a failed group")
@State
public class CallAgainstAbort {
    private final GroupEngine engine = Beside.engine();

    @Actor
    public void calls(II_Result result) {
        result.r1 = EngineOutcome.ofBarrier(engine);
    }

    @Actor
    public void aborts() {
        engine.abort(new IllegalStateException("out of paper"));
    }

    @Arbiter
    public void later(II_Result result) {
        result.r2 = EngineOutcome.ofBarrier(engine);
        engine.close();
    }
}
