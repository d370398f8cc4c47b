package ferro.backend.simulated;

/** How whoever drives a rank learns that a peer did something for it. */
interface Bell {
    /** Wakes whoever waits, or the next one to wait; any thread. */
    void ring();

    /** Waits for a ring, the time, or an interrupt; one thread at a time. */
    void await(long deadlineNanos);
}
