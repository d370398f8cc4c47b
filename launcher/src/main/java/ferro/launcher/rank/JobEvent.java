package ferro.launcher.rank;

/** The events that the loop of {@code Job} waits for. */
public sealed interface JobEvent {
    /**
     * The process of a rank ended.
     *
     * @param rank    which
     * @param code    exit code, 128 + n if signal n ended it
     * @param atNanos when the end was seen
     */
    record Ended(int rank, int code, long atNanos) implements JobEvent {}

    /** What a rank that has ended had printed has been read, but for output of its children. */
    record OutputRead(int rank) implements JobEvent {}

    /** The whole output of a rank has been shown, and no process of its group is left. */
    record Drained(int rank) implements JobEvent {}

    /**
     * A launcher of the job was sent a signal that asks for the end.
     *
     * @param name  without SIG
     * @param times how many signals that launcher was sent by then
     */
    record Signalled(String name, int times) implements JobEvent {}

    /** This launcher was sent a signal that asks for no end; its name is without SIG. */
    record Passed(String name) implements JobEvent {}

    /**
     * A rank of another node has failed, or another node is lost.
     *
     * @param code    exit code
     * @param atNanos when this launcher heard of it
     */
    record FailedElsewhere(int code, long atNanos) implements JobEvent {}

    /** All ranks have joined. */
    record Joined() implements JobEvent {}

    /** The output of ranks can no longer be shown. */
    record OutputClosed(String why) implements JobEvent {}
}
