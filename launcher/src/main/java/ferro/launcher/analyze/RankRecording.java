package ferro.launcher.analyze;

import ferro.control.failure.Failure;
import ferro.recorder.FlightRecorder;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Pattern;

/**
 * The content of one rank's flight recorder when it was written. Rank numbers are those of the joined group.
 *
 * @param origin     file, and why it was written
 * @param writer     rank that wrote it
 * @param clock      when it was written
 * @param groups     groups that the rank is or was in
 * @param operations in the order they were begun; only the last ones are kept
 * @param events     in the order they happened
 * @param stacks     of its threads, in the order they were taken
 */
record RankRecording(
        Origin origin,
        Writer writer,
        Clock clock,
        List<GroupView> groups,
        List<RecordedOperation> operations,
        List<EventView> events,
        List<StackView> stacks) {
    /** Reason of a recording that ferro dump has asked for. */
    private static final String REQUEST = "request";

    /**
     * The file of a recording.
     *
     * @param file          file it was read from
     * @param reason        why it was written
     * @param askedForAgain whether ferro dump may have asked for a newer one
     */
    record Origin(Path file, String reason, boolean askedForAgain) {}

    /**
     * Returns this recording with the times of calls, of events and of its end on a clock that is ahead of its own by some
     * time. Stacks stay on the clock of the rank: they are compared with each other only.
     */
    RankRecording shifted(long nanos) {
        Clock moved = new Clock(clock.wallNanos, clock.clockNanos + nanos);
        List<RecordedOperation> calls =
                operations.stream().map(one -> one.shifted(nanos)).toList();
        List<EventView> seen = events.stream().map(one -> one.shifted(nanos)).toList();
        return new RankRecording(origin, writer, moved, groups, calls, seen, stacks);
    }

    /** Whether it is the answer to ferro dump. */
    boolean isAnswer() {
        return origin.reason().equals(REQUEST);
    }

    /** Returns the stacks that were taken together: those of the first failure, or else the last ones. */
    List<StackView> stacksAtFailure() {
        OptionalLong failed = stacks.stream()
                .filter(stack -> stack.reason().startsWith("failure of group "))
                .mapToLong(StackView::at)
                .min();
        long at = failed.orElseGet(
                () -> stacks.stream().mapToLong(StackView::at).max().orElse(0));
        return stacks.stream().filter(stack -> stack.at() == at).toList();
    }

    /** Returns those of these stacks that have a line of the program, and that of the thread that has joined. */
    List<StackView> threadsAtFailure() {
        return stacksAtFailure().stream()
                .filter(stack -> stack.joined() || !stack.location().isEmpty())
                .toList();
    }

    /** Returns the stack of the thread that has joined, if it was in no call at the failure. */
    Optional<StackView> stackOutsideOfCalls() {
        return stacksAtFailure().stream()
                .filter(stack -> stack.joined() && stack.group().isEmpty())
                .findFirst();
    }

    /** Returns what the thread that has joined did while it was in no call, if that is known. */
    Optional<String> line() {
        return stackOutsideOfCalls().map(StackView::line);
    }

    /** Returns the line of the program at which the rank has called System.exit, if it wrote the recording then. */
    Optional<String> exitLine() {
        return Optional.of(origin.reason())
                .filter(reason -> reason.startsWith(FlightRecorder.EXIT_AT))
                .map(reason -> reason.substring(FlightRecorder.EXIT_AT.length()));
    }

    /**
     * The rank that wrote a recording.
     *
     * @param job       name of the job
     * @param rank      its number
     * @param worldSize number of ranks of the job
     * @param host      its host
     * @param pid       of its process
     */
    record Writer(String job, int rank, int worldSize, String host, long pid) {}

    /**
     * The same moment on two clocks.
     *
     * @param wallNanos  since 1970; correct, but not exact
     * @param clockNanos on the clock of the calls and events of the recording
     */
    record Clock(long wallNanos, long clockNanos) {
        /** Returns the wall clock's time less this clock's time. */
        long offset() {
            return wallNanos - clockNanos;
        }
    }

    /**
     * One group as this rank sees it.
     *
     * @param name    of the group on this rank
     * @param id      of the group on all its ranks, empty if unknown
     * @param ranks   its members, in the order of the group
     * @param failure what the members agreed on when it failed, with ranks of the joined group
     */
    record GroupView(String name, String id, List<Integer> ranks, Optional<Failure> failure) {}

    /** How far an operation came. */
    enum OperationState {
        QUEUED,
        RUNNING,
        DONE,
        FAILED;

        /** Whether a caller that waits for it still waits. */
        boolean open() {
            return this == QUEUED || this == RUNNING;
        }
    }

    /**
     * One operation.
     *
     * @param call     what was called
     * @param begun    on the clock of its recording
     * @param ended    on the clock of its recording, 0 if it has not
     * @param state    how far it came
     * @param code     kind of failure, empty if none
     * @param progress how far its plan has come
     */
    record RecordedOperation(
            RecordedCall call, long begun, long ended, OperationState state, String code, RecordedProgress progress) {
        private RecordedOperation shifted(long nanos) {
            return new RecordedOperation(call, begun + nanos, ended == 0 ? 0 : ended + nanos, state, code, progress);
        }

        /** Whether it is in the order of calls that is the same on all ranks; messages are not. */
        boolean ordered() {
            return call.sequence() >= 0
                    && !call.kind().startsWith("send")
                    && !call.kind().startsWith("recv");
        }

        /** Whether ferro made this call for itself, as when ranks join, and it has completed. Programs use no negative tag. */
        boolean isDoneByFerro() {
            return !unfinished() && call.ofFerro().isPresent();
        }

        /** Whether it has not completed: it hangs, or has failed. */
        boolean unfinished() {
            return state != OperationState.DONE;
        }
    }

    /**
     * The call of an operation.
     *
     * @param group    name of the group
     * @param sequence number in the group's order, -1 if it has none
     * @param kind     for example {@code allReduce}
     * @param text     all that ranks must agree on
     * @param bytes    of the operands
     */
    record RecordedCall(String group, long sequence, String kind, String text, long bytes) {
        /** Matches a message of ferro itself, such as {@code recv "join" from rank 2 tag -1}. */
        private static final Pattern OF_FERRO =
                Pattern.compile("(?:send to|recv from|(?:send|recv) \"([^\"]*)\" (?:to|from)) rank \\d+ tag -\\d+");

        /** Returns what a message of ferro itself is for; empty for a call of the program. */
        Optional<String> ofFerro() {
            return Optional.of(OF_FERRO.matcher(text))
                    .filter(own -> sequence < 0 && own.matches())
                    .map(own -> own.group(1) == null ? "a message of ferro" : own.group(1));
        }

        /**
         * Returns kind, label, number and group. For a message, which has no number, returns its text and the group, or what it
         * is for if it is of ferro itself.
         */
        String name() {
            return (sequence < 0 ? ofFerro().orElse(text) : shortName()) + " of group \"" + group + "\"";
        }

        /** Returns kind, label if there is one, and number. */
        String shortName() {
            if (ofFerro().isPresent()) {
                return ofFerro().get();
            }
            int labelEnds = text.startsWith(kind + " \"") ? text.indexOf('"', kind.length() + 2) : -1;
            return (labelEnds < 0 ? kind : text.substring(0, labelEnds + 1)) + (sequence < 0 ? "" : " seq " + sequence);
        }
    }

    /**
     * How far an operation has come.
     *
     * @param step       step of its plan, -1 if unknown
     * @param bytesMoved bytes moved on this rank
     * @param waitingFor ranks that it needs something from
     * @param text       the above for people, empty if there is no such text
     */
    record RecordedProgress(int step, long bytesMoved, List<Integer> waitingFor, String text) {}

    /**
     * An event.
     *
     * @param rank  the rank that recorded it
     * @param at    when it happened, on the clock of its recording
     * @param group name of the group
     * @param kind  kind of the event
     * @param ranks ranks that it is about
     * @param text  for people
     */
    record EventView(int rank, long at, String group, String kind, List<Integer> ranks, String text) {
        private EventView shifted(long nanos) {
            return new EventView(rank, at + nanos, group, kind, ranks, text);
        }
    }

    /**
     * The stack of a thread.
     *
     * @param at       when it was taken, on this rank's clock
     * @param reason   why it was taken
     * @param joined   whether this thread has joined
     * @param group    name of the group in whose call the thread was, empty if in none
     * @param location line of the program, empty if there was none
     * @param frames   number of frames, 0 if the thread has ended
     */
    record StackView(long at, String reason, boolean joined, String group, String location, int frames) {
        /** Returns the line of the program, or why there is none. */
        String line() {
            if (!location.isEmpty()) {
                return location;
            }
            return "the thread that joined " + (frames == 0 ? "has ended" : "executes no code of the program");
        }
    }
}
