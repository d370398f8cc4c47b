package ferro.collectives;

import java.util.BitSet;

/** Runs one operation at a time, a step machine: nothing here waits, and nothing is allocated once it is warm. */
interface Runner {
    /** Begins an operation; the one before must be finished. */
    void begin(Operation operation);

    /** Does what can be done now; returns whether anything moved. */
    boolean advance();

    boolean isFinished();

    /** Returns the ranks whose data, or whose taking of ours, is waited for. */
    BitSet waitingFor();

    /** Says how far it is: step 3 of 14, 65536 of 262144 bytes received. */
    String progress();

    /** Returns how far it is, for the exception of an operation that ends here. */
    PendingWork.Position position();
}
