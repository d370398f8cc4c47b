package ferro.launcher.rank;

/** A rank as {@link Supervisor} sees it. */
interface Supervised {
    int rank();

    long pid();

    /** Whether it is halted, by SIGSTOP or by a tracer. */
    boolean isHalted();

    /** Sends a signal to the rank and all its children; does nothing if it has ended. */
    void signal(String name);
}
