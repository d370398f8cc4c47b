package ferro.collectives.engine.exec;

import ferro.collectives.engine.progress.PendingWork;
import ferro.collectives.engine.progress.StepMachine;
import java.util.BitSet;

/**
 * Runs operations as a state machine: it never waits, and allocates nothing once it is warm. One operation is the current
 * one. Others may have begun behind it, and become the current one in their order. There is one executor for links and one
 * for shared memory.
 */
interface Executor extends StepMachine {
    /** Makes an operation the current one, and begins it unless it has begun; the previous one must be finished. */
    void begin(Operation operation);

    /**
     * Begins an operation behind those under way, if this changes no result; it ends after them.
     *
     * @return false if it has to wait until the current one has ended
     */
    default boolean beginBehind(Operation operation) {
        return false;
    }

    /** Drops the references to the memory of the current operation, which must be finished and the only one. */
    void forget();

    /** Returns the ranks from which data is awaited, or that have not yet taken data of this rank. */
    BitSet waitingFor();

    /** Describes how far the current operation is: step 3 of 14, 65536 of 262144 bytes received. */
    String progress();

    /**
     * Returns how far an operation is, for the exception that ends it on this rank.
     *
     * @param behind 0 for the current one, 1 for the one that has begun behind it
     */
    PendingWork.Position position(int behind);

    /** Returns whether the current operation moves over links, which then have to be polled. */
    boolean usesLinks();
}
