package ferro.collectives.engine;

import ferro.control.failure.FailurePolicy;
import ferro.control.failure.Overlay;
import ferro.control.group.JoinedPosition;
import ferro.control.group.LeftGroups;
import ferro.control.group.RankStatuses;
import ferro.control.membership.Hashing;
import ferro.control.membership.Membership;
import ferro.spi.ExitTask;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Transport;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongPredicate;

/**
 * Identifies a group among all groups of the same processes by 64 bits.
 *
 * @param ranks    ranks of the joined group, in the order of this one
 * @param statuses status of this rank in all of these groups
 * @param options  engine options, the same for all of them
 * @param left     which of them are open, or were left
 */
public record GroupIdentity(
        long value, Membership membership, int[] ranks, RankStatuses statuses, EngineOptions options, LeftGroups left) {
    /** All ranks of the joined group that was made last, in order. */
    private static final AtomicReference<int[]> ASCENDING = new AtomicReference<>(new int[0]);

    /** Without control messages nothing is waited for before a loss is blamed. */
    private record NothingToRead(LongPredicate hasCompared) implements FailurePolicy {
        @Override
        public long eofGraceNanos() {
            return 0;
        }

        @Override
        public boolean mayGiveUp(long timeoutNanos) {
            return hasCompared.test(timeoutNanos);
        }
    }

    /**
     * Options that a group and the groups made of it share.
     *
     * @param stepped whether the caller makes progress by steps, and not a thread of the engine
     * @param rules   decisions when something goes wrong
     * @param maxMesh size of the largest group in which each rank tells every other rank of a failure
     * @param maxInFlight how many operations may be in flight at once; 1 without control messages, because data that one
     *     peer does not take yet may hold back data that another peer waits for
     */
    public record EngineOptions(boolean stepped, FailurePolicy rules, int maxMesh, int maxInFlight) {
        /** Makes options with as many operations in flight at once as links carry. */
        public EngineOptions(boolean stepped, FailurePolicy rules, int maxMesh) {
            this(stepped, rules, maxMesh, Executor.LinkExecutor.MAX_RUNS);
        }
    }

    /** Returns the identity of a joined group, which watches the processes of its ranks. */
    public static GroupIdentity watched(
            Transport transport, GroupSpec group, RankContext context, EngineOptions options) {
        long identity = Hashing.of(group.name());
        LeftGroups left = options.stepped ? LeftGroups.stepped() : LeftGroups.of(context, ExitTask.Stage.GROUPS);
        return joined(identity, Membership.watching(transport, group, context, identity), group, options, left);
    }

    /**
     * Returns the identity of a group without a control lane: no rank is watched, and no rank sends the reason why a
     * peer has left. {@code hasCompared} is asked again and again at a deadline, with the
     * nanoseconds of the call's time, until it has compared the calls of the peers.
     */
    public static GroupIdentity unwatched(GroupSpec group, LongPredicate hasCompared) {
        EngineOptions options = new EngineOptions(false, new NothingToRead(hasCompared), Overlay.MAX_MESH, 1);
        return joined(Hashing.of(group.name()), Membership.unreachable(group), group, options, LeftGroups.stepped());
    }

    private static GroupIdentity joined(
            long identity, Membership membership, GroupSpec group, EngineOptions options, LeftGroups left) {
        int[] all = ascending(group.worldSize());
        // in a seeded simulation all ranks run on one thread, and the line of a test must not change a run
        RankStatuses statuses = options.stepped ? RankStatuses.withoutStacks() : new RankStatuses();
        return new GroupIdentity(identity, membership, all, statuses, options, left);
    }

    /** Returns all ranks of a joined group in order. The ranks of a process share the array, and nothing changes it. */
    private static int[] ascending(int worldSize) {
        int[] all = ASCENDING.get();
        if (all.length != worldSize) {
            all = new int[worldSize];
            Arrays.setAll(all, rank -> rank);
            ASCENDING.set(all);
        }
        return all;
    }

    GroupIdentity child(long child, int[] members) {
        int[] joined = new int[members.length];
        for (int at = 0; at < joined.length; at++) {
            joined[at] = ranks[members[at]];
        }
        return new GroupIdentity(child, membership, joined, statuses, options, left);
    }

    /** Returns whether a group of this identity was joined, and not made of another one. */
    boolean isJoined(GroupSpec group) {
        return value == Hashing.of(group.name());
    }

    JoinedPosition control() {
        return new JoinedPosition(ranks, statuses, membership);
    }
}
