package ferro.collectives.engine;

import ferro.Collective;
import ferro.FerroException;

final class EngineOutcome {
    static final int PENDING = 0;
    static final int WELL = 1;
    static final int FAILED = 2;
    static final int CLOSED = 3;

    private EngineOutcome() {}

    static int of(PendingWork work) {
        if (!work.isDone()) {
            return PENDING;
        }
        try {
            work.throwFailure();
            return WELL;
        } catch (FerroException failure) {
            return FAILED;
        }
    }

    /** Runs a barrier, for which the calling thread makes progress; returns the outcome. */
    static int ofBarrier(GroupEngine engine) {
        try {
            engine.run(Collective.barrier(), Alone.LONG);
            return WELL;
        } catch (FerroException failure) {
            return FAILED;
        } catch (IllegalStateException closed) {
            return CLOSED;
        }
    }
}
