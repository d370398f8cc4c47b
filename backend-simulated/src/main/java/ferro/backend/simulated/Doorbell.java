package ferro.backend.simulated;

/** Signals the thread that makes progress for a rank when a peer has done something for the rank. */
interface Doorbell {
    /** Wakes the waiting thread; if no thread waits, ends the next wait at once. Any thread may call this method. */
    void signal();

    /** Waits for a signal, the deadline, or an interrupt. One thread at a time may call this method. */
    void await(long deadlineNanos);
}
