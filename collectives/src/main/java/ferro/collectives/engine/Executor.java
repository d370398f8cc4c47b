package ferro.collectives.engine;

import ferro.collectives.engine.ProgressLoop.StepMachine;
import java.util.BitSet;

/**
 * A state machine that runs operations. An executor never waits, and after the first operations it allocates nothing.
 * One operation is the current one. Later operations may have begun behind the current one, and become the current one
 * in their order. There is one executor for links and one for shared memory.
 */
interface Executor extends StepMachine {
    /**
     * Makes an operation the current one, and begins it unless it has already begun. The previous operation must be
     * finished.
     */
    void begin(Operation operation);

    /**
     * Begins an operation behind the operations in flight, if this changes no result. The operation ends after the
     * operations in flight.
     *
     * @return whether the operation has begun; false if it must wait until the current operation has ended
     */
    default boolean beginBehind(Operation operation) {
        return false;
    }

    /**
     * Drops the references to the memory of the current operation. The current operation must be finished, and no other
     * operation may be in flight.
     */
    void forget();

    /**
     * Returns the ranks from which this rank waits for data, and the ranks that have not yet taken data of this rank.
     */
    BitSet waitingFor();

    /** Describes the progress of the current operation, for example: step 3 of 14, 65536 of 262144 bytes received. */
    String progress();

    /**
     * Returns the progress of an operation, for the exception that ends it on this rank.
     *
     * @param behind 0 for the current operation, 1 for the operation that has begun behind it, and so on
     */
    PendingWork.Position position(int behind);

    /** Returns whether the current operation uses links, which then must be polled. */
    boolean usesLinks();
}
