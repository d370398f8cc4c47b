package ferro.launcher.rank;

/** A rank that {@link Supervisor} can observe and signal. */
interface SupervisedRank {
    int rank();

    long pid();

    /** Whether the rank is suspended, by SIGSTOP or by a tracer. */
    boolean isHalted();

    /** Sends a signal to the rank and all its children. Does nothing if the rank has ended. */
    void signal(String name);
}
