package ferro.control.group;

import ferro.recorder.ThreadStack;
import java.lang.System.Logger.Level;
import java.lang.ref.WeakReference;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The stacks of the threads of one rank that are in calls of its groups, and of the thread that has joined. Stacks are
 * taken only when another rank asks for them, a group fails, or a recording is written. Thread-safe.
 */
final class CallStacks {
    private static final System.Logger LOG = System.getLogger("ferro.group");

    /** The age up to which stacks also serve for another question. All ranks ask for stacks at about the same time. */
    private static final long KEPT_NANOS = 20_000_000L;

    private static final int MAX_THREADS = 16;

    private volatile JoinedThread joining;
    private List<ThreadStack> taken = List.of();
    /** The calls of this rank in each group, just before the stacks were taken. */
    private List<LastGroupCall> takenIn = List.of();

    private long takenNanos;

    /** The last call of this rank in a group, and its operation in flight, which may be a message. */
    private record LastGroupCall(long last, long running, long begunNanos) {
        private static LastGroupCall of(RankStatuses.GroupStatus seat) {
            RankStatus status = seat.status().get();
            return new LastGroupCall(seat.lastCall().getAsLong(), status.sequence(), status.begunNanos());
        }
    }

    /** The thread that has joined. A strong reference would keep a virtual thread and its stack alive. */
    private record JoinedThread(String name, WeakReference<Thread> thread) {}

    void joinedBy(Thread thread) {
        joining = new JoinedThread(thread.getName(), new WeakReference<>(thread));
    }

    /**
     * Returns new stacks, or slightly older stacks if the rank has entered and ended no call since the older stacks
     * were taken. An error in this method must not become a failure of the group.
     */
    synchronized List<ThreadStack> of(List<RankStatuses.GroupStatus> seats, long nowNanos) {
        try {
            List<LastGroupCall> calls = new ArrayList<>();
            for (RankStatuses.GroupStatus seat : seats) {
                calls.add(LastGroupCall.of(seat));
            }
            if (taken.isEmpty() || nowNanos - takenNanos > KEPT_NANOS || !calls.equals(takenIn)) {
                taken = take(seats);
                takenIn = calls;
                takenNanos = nowNanos;
            }
        } catch (RuntimeException | Error broken) {
            LOG.log(Level.DEBUG, "cannot take the stacks of this rank", broken);
            taken = List.of();
        }
        return taken;
    }

    private List<ThreadStack> take(List<RankStatuses.GroupStatus> seats) {
        List<ThreadStack> stacks = new ArrayList<>();
        JoinedThread joined = joining;
        Thread joiner = joined == null ? null : joined.thread.get();
        boolean isJoinerInCall = false;
        for (RankStatuses.GroupStatus seat : seats) {
            for (Thread caller : seat.callers().get()) {
                if (stacks.size() < MAX_THREADS) {
                    stacks.add(ThreadStack.of(caller, seat.group(), caller == joiner));
                    isJoinerInCall |= caller == joiner;
                }
            }
        }
        if (joined != null && !isJoinerInCall) {
            stacks.add(joiner == null ? ThreadStack.ended(joined.name) : ThreadStack.of(joiner, "", true));
        }
        return List.copyOf(stacks);
    }

    /**
     * Returns the lines of the program that made the calls of a group which are in flight, as many as a message can
     * hold. The result is empty if no thread is in a call of the group.
     */
    static String callersOf(String group, List<ThreadStack> stacks) {
        Set<String> lines = new LinkedHashSet<>();
        for (ThreadStack stack : stacks) {
            if (stack.group().equals(group) && !stack.location().isEmpty()) {
                lines.add(stack.location());
                if (join(lines).getBytes(StandardCharsets.UTF_8).length > ThreadStack.MAX_LOCATION) {
                    lines.remove(stack.location());
                }
            }
        }
        return join(lines);
    }

    private static String join(Set<String> lines) {
        return String.join(" and ", lines);
    }

    /** Returns the stack of the thread that has joined, if this thread is known and is in no call. */
    static Optional<ThreadStack> idle(List<ThreadStack> stacks) {
        for (ThreadStack stack : stacks) {
            if (stack.isJoining() && stack.group().isEmpty()) {
                return Optional.of(stack);
            }
        }
        return Optional.empty();
    }

    /** Describes what the thread that has joined executes while the rank is in no call. */
    static String line(ThreadStack idle) {
        return idle.location().isEmpty()
                ? "the thread that joined " + (idle.isAlive() ? "executes no code of the program" : "has ended")
                : idle.location();
    }
}
