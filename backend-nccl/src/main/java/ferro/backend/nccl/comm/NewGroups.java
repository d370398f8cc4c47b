package ferro.backend.nccl.comm;

import ferro.CollectiveBackend;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.InvalidRankException;
import ferro.Store;
import ferro.backend.nccl.comm.NcclMember.MeetingKeys;
import ferro.backend.nccl.comm.SubgroupLog.LoggedCall;
import ferro.backend.nccl.queue.CommIdentity;
import ferro.backend.nccl.queue.Deadline;
import ferro.backend.nccl.queue.FailureRecords;
import ferro.backend.nccl.queue.LeaveLog;
import ferro.backend.nccl.queue.LeaveRecord;
import ferro.backend.nccl.queue.NcclFailures;
import ferro.backend.nccl.queue.NcclOperation;
import ferro.backend.nccl.queue.WorkQueue;
import ferro.control.failure.Failure;
import ferro.control.wire.RankLists;
import ferro.spi.GroupSpec;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/**
 * Makes groups of some ranks, which agree over the store.
 *
 * <p>Each member writes its list of ranks into its own log ({@link SubgroupLog}); the first member of the list adds a
 * new id of NCCL. A member that finds its own list in the log of the first member increments a counter. When all are
 * counted, they join. A member that finds another list says so in the log, and waiting members read the logs of the
 * others. So a disagreement is reported at once, and a rank that never called is reported at the deadline. The parent
 * group does not change. Members that disagreed about the membership no longer have the same counts: their next groups
 * may be refused too, but not groups of the same members.
 *
 * <p>A call costs each member four requests to the store, and one more each few milliseconds while it waits.
 */
final class NewGroups {
    private static final long SHORTEST_NAP_NANOS = 200_000;
    private static final long LONGEST_NAP_NANOS = 20_000_000;
    /** Time that a member waits before it reads all logs. */
    private static final long PATIENCE_NANOS = 60_000_000;

    private final NcclMember member;
    private final WorkQueue queue;
    private final Map<Integer, SubgroupLog> logs = new HashMap<>();
    private final AtomicInteger underWay = new AtomicInteger();
    private long calls;

    NewGroups(NcclMember member, WorkQueue queue) {
        this.member = member;
        this.queue = queue;
    }

    /** One call: the own entry, and the number of the entry of each member's log that must equal it. */
    private record GroupAttempt(LoggedCall own, Map<Integer, Long> wanted, Deadline deadline) {
        int[] ranks() {
            return own.ranks();
        }

        int leader() {
            return own.ranks()[0];
        }
    }

    CollectiveBackend make(int[] ranks, String name, Duration timeout) {
        queue.refuse(NcclOperation.NEW_GROUP);
        check(ranks);
        underWay.incrementAndGet();
        try {
            return made(ranks, name, timeout);
        } finally {
            underWay.decrementAndGet();
        }
    }

    /** Returns whether a thread is in {@link #make}. */
    boolean isUnderWay() {
        return underWay.get() > 0;
    }

    private CollectiveBackend made(int[] ranks, String name, Duration timeout) {
        byte[] id = ranks[0] == self() ? NcclUniqueId.made().toBytes() : null;
        GroupAttempt attempt = begin(ranks, id, queue.deadline(timeout));
        LoggedCall leader;
        try {
            leader = agree(attempt);
        } catch (FerroException | IllegalStateException failure) {
            giveUp(attempt, failure);
            throw failure;
        }
        return join(attempt, leader, name);
    }

    private int self() {
        return queue.identity().rank();
    }

    private Store store() {
        return member.store();
    }

    private void check(int[] ranks) {
        boolean mine = false;
        for (int i = 0; i < ranks.length; i++) {
            InvalidRankException.check(ranks[i], queue.identity().worldSize());
            mine |= ranks[i] == self();
            for (int j = 0; j < i; j++) {
                if (ranks[i] == ranks[j]) {
                    throw new IllegalArgumentException(
                            "newGroup: rank " + ranks[i] + " appears twice in " + Arrays.toString(ranks));
                }
            }
        }
        if (!mine) {
            throw new IllegalArgumentException(
                    "newGroup: rank " + self() + " called it, but is not in " + Arrays.toString(ranks));
        }
    }

    /**
     * Begins a call. Writes to the store outside the lock: a store that does not answer must not block another thread's
     * call.
     */
    private GroupAttempt begin(int[] ranks, byte[] id, Deadline deadline) {
        GroupAttempt attempt = count(ranks, id, deadline);
        store().set(attempt.own.key(), attempt.own.encoded());
        return attempt;
    }

    /** Counts a call in one step, so that calls of two threads of a rank do not mix. */
    private synchronized GroupAttempt count(int[] ranks, byte[] id, Deadline deadline) {
        Map<Integer, Long> wanted = new HashMap<>();
        for (int rank : ranks) {
            wanted.put(rank, log(rank).count());
        }
        calls++;
        LoggedCall own = new LoggedCall(log(self()).key(calls), ranks.clone(), id);
        return new GroupAttempt(own, wanted, deadline);
    }

    private synchronized SubgroupLog log(int rank) {
        return logs.computeIfAbsent(rank, writer -> new SubgroupLog(store(), member.base() + "/log/" + writer, self()));
    }

    private LoggedCall entry(GroupAttempt attempt, int rank) {
        return rank == self() ? attempt.own : log(rank).entry(attempt.wanted.get(rank));
    }

    /** Waits until all members are counted. Returns the entry of the first member. */
    private LoggedCall agree(GroupAttempt attempt) {
        LoggedCall leader = null;
        long nap = SHORTEST_NAP_NANOS;
        while (true) {
            if (leader == null) {
                leader = entry(attempt, attempt.leader());
                if (leader != null) {
                    countIn(attempt, leader);
                }
            }
            if (leader != null && agreed(leader) == attempt.ranks().length) {
                return leader;
            }
            if (attempt.deadline.elapsedNanos() > PATIENCE_NANOS) {
                readAll(attempt);
            }
            if (attempt.deadline.passed()) {
                throw late(attempt);
            }
            nap = rest(attempt, nap);
        }
    }

    private void countIn(GroupAttempt attempt, LoggedCall leader) {
        if (!leader.sameAs(attempt.ranks())) {
            throw differs(attempt, leader, attempt.leader());
        }
        store().add(leader.key() + "/agreed", 1);
    }

    private long agreed(LoggedCall leader) {
        byte[] count = FailureRecords.peek(store(), leader.key() + "/agreed");
        return count == null ? 0 : Long.parseLong(new String(count, StandardCharsets.US_ASCII));
    }

    private void readAll(GroupAttempt attempt) {
        for (int rank : attempt.ranks()) {
            LoggedCall theirs = entry(attempt, rank);
            if (theirs == null) {
                refuseIfLeft(attempt, rank);
                continue;
            }
            if (!theirs.sameAs(attempt.ranks())) {
                throw differs(attempt, theirs, rank);
            }
            byte[] over = FailureRecords.peek(store(), theirs.key() + "/over");
            if (over != null) {
                Failure why = NcclFailures.decoded(over, queue.identity().worldSize())
                        .orElse(queue.identity().failure(Code.ABORTED, Set.of(rank), "given up", null));
                throw failure(attempt, why);
            }
        }
        if (queue.failure() != null) {
            queue.refuse(NcclOperation.NEW_GROUP);
        }
    }

    /**
     * Fails the call if a rank has left without making it. The log of the rank is read again, as it may have made the
     * call and left in the meantime.
     */
    private void refuseIfLeft(GroupAttempt attempt, int rank) {
        LeaveLog leaveLog = queue.records().leaveLog();
        leaveLog.look();
        Optional<LeaveRecord> left = leaveLog.of(rank);
        if (left.isPresent() && entry(attempt, rank) == null) {
            String text = "rank " + rank + " left after seq " + left.get().last() + " without calling newGroup "
                    + attempt.own;
            throw failure(attempt, queue.identity().failure(Code.PEER_LOST, Set.of(rank), text, null));
        }
    }

    private FerroException differs(GroupAttempt attempt, LoggedCall theirs, int rank) {
        Failure why = queue.identity()
                .failure(
                        Code.MISMATCH,
                        Set.of(rank, self()),
                        "rank " + self() + " called newGroup " + attempt.own + ", rank " + rank + " called newGroup "
                                + theirs + ": exactly the members of a group must call newGroup, in the same order",
                        null);
        // a member that waits for the other one may not see this rank's log
        store().set(theirs.key() + "/over", NcclFailures.encoded(why));
        return failure(attempt, why);
    }

    private FerroException late(GroupAttempt attempt) {
        List<Integer> absent = Arrays.stream(attempt.ranks())
                .sorted()
                .filter(rank -> entry(attempt, rank) == null)
                .boxed()
                .toList();
        String those = RankLists.ranks(RankLists.list(absent));
        String why = absent.isEmpty()
                ? "not all members continued"
                : those + (absent.size() == 1 ? " has" : " have") + " not called it";
        String text = "timed out after " + attempt.deadline.lengthMillis() + " ms: " + why
                + "; this rank called newGroup " + attempt.own;
        return failure(attempt, queue.identity().failure(Code.TIMED_OUT, Set.copyOf(absent), text, null));
    }

    private FerroException failure(GroupAttempt attempt, Failure why) {
        CommIdentity identity = queue.identity();
        return NcclFailures.exception(
                why,
                identity.where(NcclOperation.NEW_GROUP, attempt.deadline.elapsedNanos()),
                identity.during(NcclOperation.NEW_GROUP));
    }

    /** Reports the failure to the members that wait for this one. */
    private void giveUp(GroupAttempt attempt, RuntimeException failure) {
        boolean told = failure instanceof FerroException known
                && (known.code() == Code.MISMATCH || known.code() == Code.TIMED_OUT || known.code() == Code.PEER_LOST);
        Failure ofParent = queue.failure();
        Failure why = told
                ? NcclFailures.of((FerroException) failure, self())
                : queue.identity()
                        .failure(
                                Code.ABORTED,
                                Set.of(self()),
                                ofParent == null ? failure.getMessage() : ofParent.text(),
                                null);
        try {
            store().set(attempt.own.key() + "/over", NcclFailures.encoded(why));
        } catch (RuntimeException gone) {
            failure.addSuppressed(gone);
        }
    }

    private long rest(GroupAttempt attempt, long nap) {
        try {
            TimeUnit.NANOSECONDS.sleep(Math.min(nap, Math.max(1, attempt.deadline.remainingNanos())));
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            String text = "interrupted while waiting for the members of " + attempt.own;
            throw failure(attempt, queue.identity().failure(Code.INTERRUPTED, Set.of(self()), text, interrupted));
        }
        return Math.min(LONGEST_NAP_NANOS, nap * 2);
    }

    private CollectiveBackend join(GroupAttempt attempt, LoggedCall leader, String name) {
        int rank = 0;
        while (attempt.ranks()[rank] != self()) {
            rank++;
        }
        CommIdentity parent = queue.identity();
        GroupSpec group = GroupSpec.of(parent.group() + name, rank, attempt.ranks().length, member.timeout());
        CommIdentity identity = new CommIdentity(group.name(), rank, group.worldSize(), parent.device());
        Communicator comm =
                CommFactory.of(member.context()).rank(identity, NcclUniqueId.fromBytes(leader.id()), attempt.deadline);
        StreamChoice stream = member.stream().owned()
                ? StreamChoice.OWN
                : StreamChoice.of(member.stream().handle());
        int[] ranks =
                IntStream.of(attempt.ranks()).map(each -> member.ranks()[each]).toArray();
        return new NcclJoin(group, member.context())
                .assemble(comm, new MeetingKeys(store(), leader.key() + "/group", member.family(), ranks), stream);
    }
}
