package ferro.launcher;

/** A rank as {@link Supervisor} sees it. */
interface Supervised {
    int rank();

    long pid();

    /** Whether it stands still because somebody has sent it SIGSTOP, or traces it. */
    boolean isHalted();

    /** Sends a signal to the rank and all its children; one that has ended needs none. */
    void signal(String name);
}
