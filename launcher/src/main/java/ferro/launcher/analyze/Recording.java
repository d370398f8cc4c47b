package ferro.launcher.analyze;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * What the flight recorder of one rank held when it was written. Ranks are those of the joined group.
 *
 * @param file       where it was read from
 * @param writer     who wrote it
 * @param clock      when
 * @param reason     why
 * @param groups     groups that the rank is in, or was
 * @param operations in the order they were begun; only the last ones are kept
 * @param events     in the order they happened
 */
record Recording(
        Path file,
        Writer writer,
        Clock clock,
        String reason,
        List<Group> groups,
        List<Operation> operations,
        List<Event> events) {
    /**
     * Who wrote it.
     *
     * @param job       name of the job
     * @param rank      which
     * @param worldSize of how many
     * @param host      where
     * @param pid       of its process
     */
    record Writer(String job, int rank, int worldSize, String host, long pid) {}

    /**
     * The same moment on two clocks.
     *
     * @param wallNanos  since 1970, right but not exact
     * @param clockNanos of the clock that all other times here are on
     */
    record Clock(long wallNanos, long clockNanos) {
        /** Returns how much later the wall clock is. */
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
     * @param failure what has failed it
     */
    record Group(String name, String id, List<Integer> ranks, Optional<Failure> failure) {}

    /**
     * What the members agreed on.
     *
     * @param code     kind
     * @param culprits ranks to blame, empty if unknown
     * @param sequence operation in which it was seen, -1 if none
     * @param origin   who saw it first
     * @param text     for people
     */
    record Failure(String code, List<Integer> culprits, long sequence, int origin, String text) {}

    /** How far an operation came. */
    enum State {
        QUEUED,
        RUNNING,
        DONE,
        FAILED;

        /** Whether whoever waits for it still waits. */
        boolean open() {
            return this == QUEUED || this == RUNNING;
        }
    }

    /**
     * One operation.
     *
     * @param call     what was called
     * @param begun    on this rank's clock
     * @param ended    on this rank's clock, 0 if it has not
     * @param state    how far it came
     * @param code     kind of failure, empty if none
     * @param progress where it stands
     */
    record Operation(Call call, long begun, long ended, State state, String code, Progress progress) {
        /** Whether it stands in the order of calls that is the same on all ranks: messages do not. */
        boolean ordered() {
            return call.sequence() >= 0
                    && !call.kind().startsWith("send")
                    && !call.kind().startsWith("recv");
        }

        /** Whether it did not come to its end: it hangs, or has failed. */
        boolean unfinished() {
            return state != State.DONE;
        }
    }

    /**
     * What was called.
     *
     * @param group    name of the group
     * @param sequence number in the group's order, -1 if it has none
     * @param kind     for example {@code allReduce}
     * @param text     all that ranks must agree on
     * @param bytes    of the operands
     */
    record Call(String group, long sequence, String kind, String text, long bytes) {
        /** Returns kind, number and group; of a message, which has no number, what it is, and the group. */
        String name() {
            return (sequence < 0 ? text : shortName()) + " of group \"" + group + "\"";
        }

        /** Returns kind and number. */
        String shortName() {
            return kind + (sequence < 0 ? "" : " seq " + sequence);
        }
    }

    /**
     * Where an operation stands.
     *
     * @param step       of its plan, -1 if unknown
     * @param bytesMoved on this rank
     * @param waitingFor ranks that it needs something from
     * @param text       all of that for people, empty if there is no such text
     */
    record Progress(int step, long bytesMoved, List<Integer> waitingFor, String text) {}

    /**
     * Something that happened.
     *
     * @param at    on this rank's clock
     * @param group name of the group
     * @param kind  what
     * @param ranks that it is about
     * @param text  for people
     */
    record Event(long at, String group, String kind, List<Integer> ranks, String text) {}
}
