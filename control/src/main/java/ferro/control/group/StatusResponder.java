package ferro.control.group;

import ferro.control.failure.StatusAnswer;
import ferro.recorder.ThreadStack;
import ferro.spi.CallHeader;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The answers of this rank to questions about its state. An answer describes the call of this rank in this group. If
 * this rank is in no call of this group, the answer describes a call of this rank in another group of the same
 * processes.
 */
final class StatusResponder {
    private final RankStatuses statuses;
    private final RankStatuses.GroupStatus seat;
    private final CallHistory history;
    private final ControlledGroup owner;
    private final LongSupplier clock;

    StatusResponder(
            RankStatuses statuses,
            RankStatuses.GroupStatus seat,
            CallHistory history,
            ControlledGroup owner,
            LongSupplier clock) {
        this.statuses = statuses;
        this.seat = seat;
        this.history = history;
        this.owner = owner;
        this.clock = clock;
    }

    /** Adds this group, so that answers of this rank in other groups can describe its calls in this group. */
    void enter() {
        statuses.enter(seat);
    }

    void leave() {
        statuses.leave(seat);
    }

    /** Sets the thread that has joined. */
    void joinedBy(Thread thread) {
        statuses.joinedBy(thread);
    }

    /** Returns the current or slightly older stacks of this rank. */
    List<ThreadStack> stacks() {
        return statuses.stacks(clock.getAsLong());
    }

    /** Records the stacks of this rank and returns them. */
    List<ThreadStack> record(String reason) {
        List<ThreadStack> taken = stacks();
        if (!taken.isEmpty()) {
            owner.record(reason, taken);
        }
        return taken;
    }

    /** Answers a question about the state of this rank and about an operation; 0 means no operation. */
    StatusAnswer status(long ask, long asked) {
        return status(ask, asked, List.of());
    }

    /** Answers like {@link #status(long, long)}, and adds the line of the program from the stacks of this rank. */
    StatusAnswer statusWithLine(long ask, long asked) {
        return status(ask, asked, record("asked by a rank that waits"));
    }

    private StatusAnswer status(long ask, long asked, List<ThreadStack> stacks) {
        CallHeader call = history.find(asked);
        CallHeader last = history.find(history.last());
        RankStatuses.ActiveOperation busy = statuses.busy(seat);
        String place = "";
        Set<Integer> waitsFor = Set.of();
        int sufficient = 0;
        long running = 0;
        long pausedNanos = 0;
        Optional<ThreadStack> idle = CallStacks.idle(stacks);
        // for a call that this rank has ended, the answer has a line of the program, not the state of a thread
        boolean hasEnded = asked > 0 && asked == history.last();
        String location =
                idle.map(hasEnded ? ThreadStack::location : CallStacks::line).orElse("");
        if (busy != null) {
            RankStatuses.GroupStatus there = busy.seat();
            RankStatus status = busy.status();
            place = status.sentence(there.machines()) + (there == seat ? "" : " of group \"" + there.group() + "\"");
            running = there == seat ? status.sequence() : 0;
            waitsFor = joined(status.waitingFor(), there.machines().joinedRanks());
            sufficient = status.isAny() ? 1 : 0;
            pausedNanos = owner.pausedSince(status.begunNanos());
            location = busyLocation(there.group(), stacks, idle);
        }
        return new StatusAnswer(
                ask,
                history.last(),
                last == null ? "" : last.text(),
                running,
                asked,
                call == null ? 0 : call.fingerprint(),
                call == null ? "" : call.text(),
                place,
                waitsFor,
                sufficient,
                TimeUnit.NANOSECONDS.toMillis(pausedNanos),
                location);
    }

    /** Returns the line that has made a call of a group, or the line that the joined thread executes in the call. */
    private static String busyLocation(String group, List<ThreadStack> stacks, Optional<ThreadStack> idle) {
        String callers = CallStacks.callersOf(group, stacks);
        String executed = idle.map(ThreadStack::location).orElse("");
        return callers.isEmpty()
                ? executed.isEmpty() ? "" : "while its thread executes " + executed
                : "called by " + callers;
    }

    private static Set<Integer> joined(Set<Integer> ranks, int[] joinedRanks) {
        Set<Integer> joined = new TreeSet<>();
        ranks.forEach(rank -> joined.add(joinedRanks[rank]));
        return joined;
    }
}
