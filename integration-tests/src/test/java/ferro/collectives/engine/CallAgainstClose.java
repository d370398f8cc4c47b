package ferro.collectives.engine;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** One thread calls while another closes: the call is refused or ends well, because close waits for queued calls. */
@JCStressTest
@Outcome(id = "1, 3", expect = ACCEPTABLE, desc = "the call came first")
@Outcome(id = "3, 3", expect = ACCEPTABLE, desc = "the close came first")
@Outcome(expect = FORBIDDEN, desc = "a call that was lost, or one that was taken after the close")
@State
public class CallAgainstClose {
    private final GroupEngine engine = Beside.engine();

    @Actor
    public void calls(II_Result result) {
        result.r1 = EngineOutcome.ofBarrier(engine);
    }

    @Actor
    public void closes() {
        engine.close();
    }

    @Arbiter
    public void later(II_Result result) {
        result.r2 = EngineOutcome.ofBarrier(engine);
    }
}
