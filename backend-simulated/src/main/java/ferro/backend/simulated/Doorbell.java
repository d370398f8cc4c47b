package ferro.backend.simulated;

/** Signals the thread that makes progress for a rank when a peer did something for that rank. */
interface Doorbell {
    /** Wakes the thread that waits, or else ends the next wait at once; any thread may call. */
    void signal();

    /** Waits for a signal, the deadline, or an interrupt; one thread at a time may call. */
    void await(long deadlineNanos);
}
