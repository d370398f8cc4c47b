package ferro.examples.textmodel;

import ferro.group.ProcessGroup;
import ferro.training.Termination;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/**
 * A request from outside to end the training after the current step.
 *
 * @param local   function that returns, without communication, whether this rank has received the request
 * @param agreed function that returns whether any rank has received the request; all ranks must call this function at
 *     the same point
 */
record StopRequest(BooleanSupplier local, Predicate<ProcessGroup> agreed) {
    /** A request that never comes. */
    static final StopRequest NEVER = new StopRequest(() -> false, group -> false);

    /** Returns a request that comes by SIGTERM. */
    static StopRequest by(Termination termination) {
        return new StopRequest(termination::isRequested, termination::agreed);
    }
}
