package ferro.spi;

/** Task that runs if the JVM ends while a resource of a rank is still open; registered by {@link RankContext#atExit}. */
@FunctionalInterface
public interface ExitTask {
    /**
     * Runs at the end of the JVM, on a thread of its own, while other threads still run.
     *
     * @param exit how the JVM ends, and how long this may take
     */
    void run(JvmExit exit);

    /** Order of the tasks. The recording of a failure is written after groups have had the chance to fail. */
    enum Stage {
        /**
         * Groups of devices fail if they must, without waiting. The group with a control lane beside them tells the other
         * ranks.
         */
        DEVICES,
        /** Groups say goodbye, or fail. */
        GROUPS,
        /** Recordings are written. */
        RECORDINGS
    }

    /**
     * How a JVM ends.
     *
     * @param signal     that ends it, such as SIGTERM; empty if main has returned or something has called System.exit
     * @param untilNanos on the context's clock: deadline for all tasks of the context
     */
    record JvmExit(String signal, long untilNanos) {}

    /** Cancels a task. */
    @FunctionalInterface
    interface Handle {
        /** Removes the task, which has nothing to do any more; idempotent. */
        void cancel();
    }
}
