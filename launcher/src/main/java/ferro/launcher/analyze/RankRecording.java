package ferro.launcher.analyze;

import ferro.control.failure.Failure;
import ferro.recorder.FlightRecorder;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Pattern;

/**
 * The content of one rank's flight recorder at the time of the recording. The rank numbers are the numbers in the
 * joined group.
 *
 * @param origin     file of the recording, and the reason why it was written
 * @param writer     rank that wrote the recording
 * @param clock      time at which the recording was written
 * @param groups     groups that the rank is or was in
 * @param operations operations in the order in which they began; only the last operations are kept
 * @param events     events in the order in which they occurred
 * @param stacks     stacks of the rank's threads, in the order in which they were taken
 */
record RankRecording(
        Origin origin,
        RecordedRank writer,
        ClockSample clock,
        List<GroupEntry> groups,
        List<RecordedOperation> operations,
        List<EventEntry> events,
        List<StackEntry> stacks) {
    /** Reason of a recording that ferro dump has requested. */
    private static final String REQUEST = "request";

    /**
     * The origin of a recording.
     *
     * @param file          file that contains the recording
     * @param reason        reason why the recording was written
     * @param askedForAgain whether ferro dump may have requested a newer recording
     */
    record Origin(Path file, String reason, boolean askedForAgain) {}

    /**
     * Returns this recording with the times of calls, events and writing on a clock that is ahead by {@code nanos}.
     * Times of stacks do not change, because stack times are only compared with each other.
     */
    RankRecording shifted(long nanos) {
        ClockSample moved = new ClockSample(clock.wallNanos, clock.clockNanos + nanos);
        List<RecordedOperation> calls =
                operations.stream().map(one -> one.shifted(nanos)).toList();
        List<EventEntry> seen = events.stream().map(one -> one.shifted(nanos)).toList();
        return new RankRecording(origin, writer, moved, groups, calls, seen, stacks);
    }

    /** Whether this recording is the answer to a ferro dump. */
    boolean isAnswer() {
        return origin.reason().equals(REQUEST);
    }

    /** Returns stacks that were taken at the same time: at the first failure, or else the last stacks. */
    List<StackEntry> stacksAtFailure() {
        OptionalLong failed = stacks.stream()
                .filter(stack -> stack.reason().startsWith("failure of group "))
                .mapToLong(StackEntry::at)
                .min();
        long at = failed.orElseGet(
                () -> stacks.stream().mapToLong(StackEntry::at).max().orElse(0));
        return stacks.stream().filter(stack -> stack.at() == at).toList();
    }

    /** Returns the stacks at the failure with a line of the program, and the stack of the thread that has joined. */
    List<StackEntry> threadsAtFailure() {
        return stacksAtFailure().stream()
                .filter(stack -> stack.joined() || !stack.location().isEmpty())
                .toList();
    }

    /** Returns the stack of the thread that has joined, if this thread was in no call at the failure. */
    Optional<StackEntry> stackOutsideOfCalls() {
        return stacksAtFailure().stream()
                .filter(stack -> stack.joined() && stack.group().isEmpty())
                .findFirst();
    }

    /** Returns the line that the joined thread executed while in no call; empty if unknown. */
    Optional<String> line() {
        return stackOutsideOfCalls().map(StackEntry::line);
    }

    /** Returns the line that called System.exit, if the rank wrote the recording at this call. */
    Optional<String> exitLine() {
        return Optional.of(origin.reason())
                .filter(reason -> reason.startsWith(FlightRecorder.EXIT_AT))
                .map(reason -> reason.substring(FlightRecorder.EXIT_AT.length()));
    }

    /**
     * The rank that wrote a recording.
     *
     * @param job       name of the job
     * @param rank      number of the rank
     * @param worldSize number of ranks of the job
     * @param host      name of the rank's host
     * @param pid       id of the rank's process
     */
    record RecordedRank(String job, int rank, int worldSize, String host, long pid) {}

    /**
     * One moment on two clocks.
     *
     * @param wallNanos  nanoseconds since 1970 on the wall clock, which is less precise
     * @param clockNanos nanoseconds on the clock of the recording's calls and events
     */
    record ClockSample(long wallNanos, long clockNanos) {
        /** Returns the wall clock's time minus the recording clock's time. */
        long offset() {
            return wallNanos - clockNanos;
        }
    }

    /**
     * One group, according to the recording of this rank.
     *
     * @param name    name of the group on this rank
     * @param id      id of the group on all its ranks; empty if unknown
     * @param ranks   members in the order of the group
     * @param failure failure of the group that its members agreed on, with ranks of the joined group
     */
    record GroupEntry(String name, String id, List<Integer> ranks, Optional<Failure> failure) {}

    /** The states of an operation. */
    enum OperationState {
        QUEUED,
        RUNNING,
        DONE,
        FAILED;

        /** Whether a caller that waits for an operation in this state still waits. */
        boolean open() {
            return this == QUEUED || this == RUNNING;
        }
    }

    /**
     * One operation in a recording.
     *
     * @param call     the call that started the operation
     * @param begun    start, on the clock of the recording
     * @param ended    end, on the clock of the recording; 0 if the operation has not ended
     * @param state    state of the operation
     * @param code     kind of failure; empty if the operation has not failed
     * @param progress progress of the operation's plan
     */
    record RecordedOperation(
            RecordedCall call, long begun, long ended, OperationState state, String code, RecordedProgress progress) {
        private RecordedOperation shifted(long nanos) {
            return new RecordedOperation(call, begun + nanos, ended == 0 ? 0 : ended + nanos, state, code, progress);
        }

        /** Whether the operation has a sequence number. Messages have no sequence number. */
        boolean ordered() {
            return call.sequence() >= 0
                    && !call.kind().startsWith("send")
                    && !call.kind().startsWith("recv");
        }

        /** Whether this operation is a completed call of ferro itself, such as a join. Programs use no negative tag. */
        boolean isDoneByFerro() {
            return !unfinished() && call.ofFerro().isPresent();
        }

        /** Whether the operation has not completed, because it hangs or has failed. */
        boolean unfinished() {
            return state != OperationState.DONE;
        }
    }

    /**
     * The call of an operation.
     *
     * @param group    name of the group
     * @param sequence number in the order of the group's calls; -1 for a call without a number
     * @param kind     kind of the call, for example {@code allReduce}
     * @param text     all properties that must be the same on all ranks
     * @param bytes    size of the operands in bytes
     */
    record RecordedCall(String group, long sequence, String kind, String text, long bytes) {
        /** Matches a message of ferro itself, such as {@code recv "join" from rank 2 tag -1}. */
        private static final Pattern OF_FERRO =
                Pattern.compile("(?:send to|recv from|(?:send|recv) \"([^\"]*)\" (?:to|from)) rank \\d+ tag -\\d+");

        /** Returns the purpose of a message of ferro itself; empty for a call of the program. */
        Optional<String> ofFerro() {
            return Optional.of(OF_FERRO.matcher(text))
                    .filter(own -> sequence < 0 && own.matches())
                    .map(own -> own.group(1) == null ? "a message of ferro" : own.group(1));
        }

        /**
         * Returns kind, label, number and group of the call. For a message, which has no number, returns its text and
         * the group. For a message of ferro itself, returns its purpose and the group.
         */
        String name() {
            return (sequence < 0 ? ofFerro().orElse(text) : shortName()) + " of group \"" + group + "\"";
        }

        /** Returns the kind, the label if the call has a label, and the number. */
        String shortName() {
            if (ofFerro().isPresent()) {
                return ofFerro().get();
            }
            int labelEnds = text.startsWith(kind + " \"") ? text.indexOf('"', kind.length() + 2) : -1;
            return (labelEnds < 0 ? kind : text.substring(0, labelEnds + 1)) + (sequence < 0 ? "" : " seq " + sequence);
        }
    }

    /**
     * The progress of an operation.
     *
     * @param step       step of the plan; -1 if unknown
     * @param bytesMoved bytes moved on this rank
     * @param waitingFor ranks from which the operation needs data or an answer
     * @param text       description of the progress; empty if the recording has none
     */
    record RecordedProgress(int step, long bytesMoved, List<Integer> waitingFor, String text) {}

    /**
     * An event in a recording.
     *
     * @param rank  rank that recorded the event
     * @param at    time of the event, on the clock of the recording
     * @param group name of the group
     * @param kind  kind of the event
     * @param ranks ranks that the event is about
     * @param text  description of the event
     */
    record EventEntry(int rank, long at, String group, String kind, List<Integer> ranks, String text) {
        private EventEntry shifted(long nanos) {
            return new EventEntry(rank, at + nanos, group, kind, ranks, text);
        }
    }

    /**
     * The stack of a thread in a recording.
     *
     * @param at       time at which the stack was taken, on the rank's clock
     * @param reason   reason why the stack was taken
     * @param joined   whether the thread has joined
     * @param group    name of the group in whose call the thread was; empty for no call
     * @param location line of the program; empty if the stack has none
     * @param frames   number of frames; 0 if the thread has ended
     */
    record StackEntry(long at, String reason, boolean joined, String group, String location, int frames) {
        /** Returns the line of the program, or the reason why the stack has no line. */
        String line() {
            return location.isEmpty()
                    ? "the thread that joined " + (frames == 0 ? "has ended" : "executes no code of the program")
                    : location;
        }
    }
}
