package ferro.collectives.engine;

import ferro.control.failure.FailurePolicy;
import ferro.control.failure.Overlay;
import ferro.control.group.GroupRegistry;
import ferro.control.group.JoinedGroupView;
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
 * A 64-bit number that identifies a group among all groups of the same processes, and the objects that these groups
 * share.
 *
 * @param ranks    for each rank of this group, its rank in the joined group
 * @param statuses status of this rank in the joined group and in each subgroup
 * @param options  engine options, the same for the joined group and its subgroups
 * @param left     the groups of this rank that are open, and the groups that it has left
 */
public record GroupIdentity(
        long value,
        Membership membership,
        int[] ranks,
        RankStatuses statuses,
        EngineOptions options,
        GroupRegistry left) {
    /** All ranks of the group that was joined last, in ascending order. */
    private static final AtomicReference<int[]> ASCENDING = new AtomicReference<>(new int[0]);

    /** A policy that blames a loss at once, because without control messages no message can explain the loss. */
    private record ImmediateBlamePolicy(LongPredicate hasCompared) implements FailurePolicy {
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
     * Options that a joined group and its subgroups share.
     *
     * @param stepped whether the caller makes progress by steps, in place of a thread of the engine
     * @param rules   policy after a failure
     * @param maxMesh size of the largest group in which each rank sends a failure to every other rank
     * @param maxInFlight maximum number of operations in flight. The number is 1 without control messages, because data
     *     that one peer does not take yet may hold back data that another peer waits for
     */
    public record EngineOptions(boolean stepped, FailurePolicy rules, int maxMesh, int maxInFlight) {
        /** Creates options with the maximum number of operations in flight that links support. */
        public EngineOptions(boolean stepped, FailurePolicy rules, int maxMesh) {
            this(stepped, rules, maxMesh, OperationExecutor.LinkExecutor.MAX_RUNS);
        }
    }

    /** Returns the identity of a joined group whose membership watches the processes of the ranks. */
    public static GroupIdentity watched(
            Transport transport, GroupSpec group, RankContext context, EngineOptions options) {
        long identity = Hashing.of(group.name());
        GroupRegistry left =
                options.stepped ? GroupRegistry.stepped() : GroupRegistry.of(context, ExitTask.Stage.GROUPS);
        return joined(identity, Membership.watching(transport, group, context, identity), group, options, left);
    }

    /**
     * Returns the identity of a group without a control lane. The group watches no rank, and no rank sends the reason
     * why a peer has left. At a deadline, the engine calls {@code hasCompared} repeatedly until the result is true. The
     * argument of {@code hasCompared} is the timeout of the call in nanoseconds. {@code hasCompared} returns true when
     * the calls of the peers have been compared, cannot be compared, or could not be compared in time.
     */
    public static GroupIdentity unwatched(GroupSpec group, LongPredicate hasCompared) {
        EngineOptions options = new EngineOptions(false, new ImmediateBlamePolicy(hasCompared), Overlay.MAX_MESH, 1);
        return joined(Hashing.of(group.name()), Membership.unreachable(group), group, options, GroupRegistry.stepped());
    }

    private static GroupIdentity joined(
            long identity, Membership membership, GroupSpec group, EngineOptions options, GroupRegistry left) {
        int[] all = ascending(group.worldSize());
        // in a seeded simulation all ranks run on one thread, and line numbers in the stack of a test must not change a
        // run
        RankStatuses statuses = options.stepped ? RankStatuses.withoutStacks() : new RankStatuses();
        return new GroupIdentity(identity, membership, all, statuses, options, left);
    }

    /** Returns the ranks of a joined group in order. The ranks of a process share the array, which never changes. */
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

    /** Returns whether a group with this identity is a joined group and not a subgroup. */
    boolean isJoined(GroupSpec group) {
        return value == Hashing.of(group.name());
    }

    JoinedGroupView control() {
        return new JoinedGroupView(ranks, statuses, membership);
    }
}
