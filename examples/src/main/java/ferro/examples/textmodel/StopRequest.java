package ferro.examples.textmodel;

import ferro.group.ProcessGroup;
import ferro.training.Termination;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/**
 * A request from outside that training ends after the step that is under way.
 *
 * @param here   whether this rank got it; asks no other rank
 * @param agreed whether any rank got it; all ranks ask at the same place
 */
record StopRequest(BooleanSupplier here, Predicate<ProcessGroup> agreed) {
    /** Never comes. */
    static final StopRequest NEVER = new StopRequest(() -> false, group -> false);

    /** Comes by SIGTERM. */
    static StopRequest by(Termination termination) {
        return new StopRequest(termination::isRequested, termination::agreed);
    }
}
