package ferro.spi;

/**
 * A task that runs if the JVM ends while a resource of a rank is still open. {@link RankContext#atExit} registers the
 * task.
 */
@FunctionalInterface
public interface ExitTask {
    /**
     * Runs at the end of the JVM, on a separate thread, while other threads still run.
     *
     * @param exit how the JVM ends, and until when the task may run
     */
    void run(JvmExit exit);

    /**
     * The order in which tasks run. Recordings are written after the groups have failed, so that the recordings contain
     * the failures.
     */
    enum Stage {
        /**
         * The back ends for device tensors fail if necessary, without waiting. The second back end of the same group,
         * which has the control lane, notifies the other ranks.
         */
        DEVICES,
        /** Groups send a closing message to the other ranks, or fail. */
        GROUPS,
        /** The flight recorders write their recordings. */
        RECORDINGS
    }

    /**
     * The way in which a JVM ends.
     *
     * @param signal     signal that ends the JVM, such as SIGTERM; empty if main has returned or System.exit was called
     * @param untilNanos deadline of all tasks of the context, on the context's clock
     */
    record JvmExit(String signal, long untilNanos) {}

    /** A handle that cancels a task. */
    @FunctionalInterface
    interface Handle {
        /** Removes the task, which is no longer needed. Idempotent. */
        void cancel();
    }
}
