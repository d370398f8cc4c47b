package ferro.launcher;

/** What the loop of {@link Job} waits for. */
sealed interface JobEvent {
    /**
     * The process of a rank ended.
     *
     * @param rank    which
     * @param code    exit code, 128 + n where signal n ended it
     * @param atNanos when it was seen
     */
    record Ended(int rank, int code, long atNanos) implements JobEvent {}

    /**
     * All that a rank printed has been shown, and nothing is left of its process group.
     *
     * @param rank which
     */
    record Drained(int rank) implements JobEvent {}

    /**
     * A launcher of the job was sent a signal.
     *
     * @param name  without SIG
     * @param times how many signals that launcher was sent by then
     */
    record Signalled(String name, int times) implements JobEvent {}

    /**
     * A rank of another node has failed, or another node is lost.
     *
     * @param code exit code
     */
    record FailedElsewhere(int code) implements JobEvent {}

    /** All ranks have joined. */
    record Joined() implements JobEvent {}

    /**
     * What ranks print can no longer be shown.
     *
     * @param why what happened
     */
    record OutputClosed(String why) implements JobEvent {}
}
