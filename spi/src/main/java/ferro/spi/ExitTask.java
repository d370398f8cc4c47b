package ferro.spi;

/** What something of a rank does when its JVM ends while it is still open; made known by {@link RankContext#atExit}. */
@FunctionalInterface
public interface ExitTask {
    /**
     * Runs at the end of the JVM, on a thread of its own, while other threads still run.
     *
     * @param exit how the JVM ends, and how long this may take
     */
    void run(JvmExit exit);

    /** What comes first: the recording of a failure is written after groups have had the chance to fail. */
    enum Stage {
        /** Groups of devices fail if they must, without waiting: what has a control lane beside them tells the ranks of it. */
        DEVICES,
        /** Groups say goodbye, or fail. */
        GROUPS,
        /** What was recorded is written. */
        RECORDINGS
    }

    /**
     * How a JVM ends.
     *
     * @param signal     that ends it, such as SIGTERM; empty if main has returned or something has called System.exit
     * @param untilNanos on the context's clock: by then all tasks of the context are to be done
     */
    record JvmExit(String signal, long untilNanos) {}

    /** Takes a task back. */
    @FunctionalInterface
    interface Handle {
        /** The task has nothing to do any more; idempotent. */
        void cancel();
    }
}
