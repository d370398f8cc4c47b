package ferro.collectives;

import java.util.BitSet;

/**
 * Runs operations, a step machine: nothing here waits, and nothing is allocated once it is warm. One of them is the current one;
 * others may have begun behind it, and become it in their order. There is one for links and one for shared memory.
 */
interface Executor {
    /** Makes an operation the current one, and begins it unless it has begun; the one before must be finished. */
    void begin(Operation operation);

    /**
     * Begins an operation behind those under way, where this changes no result; it ends after them.
     *
     * @return false if it has to wait until the current one has ended
     */
    default boolean beginBehind(Operation operation) {
        return false;
    }

    /** Does what can be done now; returns whether anything moved. */
    boolean advance();

    /** Lets go of the memory of the current one, which is finished and alone. */
    void forget();

    /** Returns whether the current one is. */
    boolean isFinished();

    /** Returns the ranks whose data, or whose taking of ours, is waited for. */
    BitSet waitingFor();

    /** Says how far the current one is: step 3 of 14, 65536 of 262144 bytes received. */
    String progress();

    /**
     * Returns how far an operation is, for the exception with which it ends here.
     *
     * @param behind 0 for the current one, 1 for the one that has begun behind it
     */
    PendingWork.Position position(int behind);

    /** Returns whether what it runs moves over links, which are to be polled then. */
    boolean usesLinks();
}
