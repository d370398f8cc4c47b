package ferro.launcher.rank;

/** The events that the loop of {@code Job} waits for. */
public sealed interface JobEvent {
    /**
     * The process of a rank has ended.
     *
     * @param rank    number of the rank
     * @param code    exit code; 128 + n if signal n ended the process
     * @param atNanos time at which the launcher detected the end
     */
    record RankEndEvent(int rank, int code, long atNanos) implements JobEvent {}

    /** All output of a rank that has ended has been read, except output of its children. */
    record OutputReadEvent(int rank) implements JobEvent {}

    /** All output of a rank has been shown, and no process of its group is left. */
    record DrainEvent(int rank) implements JobEvent {}

    /**
     * A launcher of the job has received a signal that requests the end of the job.
     *
     * @param name  name of the signal without SIG
     * @param times number of signals that request the end and that the launcher has received, including this signal
     */
    record StopSignalEvent(String name, int times) implements JobEvent {}

    /** This launcher has received a signal that does not request the end. {@code name} is without SIG. */
    record SignalEvent(String name) implements JobEvent {}

    /**
     * A rank of another node has failed, or another node is lost.
     *
     * @param code    exit code of the job
     * @param atNanos time at which this launcher received the message
     */
    record RemoteFailureEvent(int code, long atNanos) implements JobEvent {}

    /** All ranks of the job have joined. */
    record AllJoinedEvent() implements JobEvent {}

    /** The output of ranks can no longer be shown. */
    record OutputClosedEvent(String why) implements JobEvent {}
}
