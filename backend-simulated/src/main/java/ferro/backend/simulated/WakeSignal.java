package ferro.backend.simulated;

/**
 * A signal to the thread that makes progress for a rank. A peer gives the signal after it has done something for the
 * rank.
 */
interface WakeSignal {
    /** Wakes the waiting thread. If no thread waits, the next wait ends at once. Any thread may call this method. */
    void signal();

    /** Waits for a signal, the deadline, or an interrupt. One thread at a time may call this method. */
    void await(long deadlineNanos);
}
