package ferro.collectives.control;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * How the members of a new group agree on it: each tells the others its identity and ranks, and waits to hear the same.
 *
 * <p>The identity is made from the parent, the ranks and how often this list was used, so that no store is needed. A
 * member that waits for another list with this rank in it can never meet it: that is a disagreement and fails at once.
 * Failing to agree leaves the parent as it was.
 */
public final class Agreement {
    /** Failures of the parent wake the waiter; this bounds how long a clock that jumps could hide a deadline. */
    private static final long LOOK_NANOS = 100_000_000L;

    private final GroupControl control;
    private final GroupSpec group;
    private final RankContext context;
    private final Map<List<Integer>, Integer> uses = new HashMap<>();
    private final Map<Integer, Deque<Proposal>> proposals = new HashMap<>();

    /** What a rank said it makes, and has not made yet as far as this rank knows. */
    private record Proposal(long identity, String ranks) {}

    Agreement(GroupControl control, GroupSpec group, RankContext context) {
        this.control = control;
        this.group = group;
        this.context = context;
    }

    /**
     * Returns the identity of the next group of these ranks.
     *
     * @param parent identity of this group
     * @param ranks  ranks of this group, in the order of the new one
     * @return 64 bits, equal on all members
     */
    public synchronized long nextIdentity(long parent, int[] ranks) {
        int use = uses.merge(Arrays.stream(ranks).boxed().toList(), 1, Integer::sum);
        long hash = parent;
        for (int rank : ranks) {
            hash = Hashing.mix(hash, rank);
        }
        return Hashing.mix(hash, use);
    }

    /**
     * Tells the other members and waits until all have told the same.
     *
     * @param identity of the new group
     * @param ranks    ranks of this group, in the order of the new one
     * @param timeout  until all have called
     * @throws FerroException MISMATCH if a member makes another group, TIMED_OUT naming the members that never called,
     *     INTERRUPTED, or whatever the parent fails with
     */
    public void reach(long identity, int[] ranks, Duration timeout) {
        long deadline = context.nanoTime() + timeout.toNanos();
        String text = Arrays.toString(ranks);
        BitSet open = new BitSet();
        for (int member : ranks) {
            if (member != group.rank()) {
                open.set(member);
                control.tell(member, ControlMessage.agree(identity, text));
            }
        }
        synchronized (this) {
            while (!settle(open, identity, text)) {
                await(open, text, deadline, timeout);
            }
        }
    }

    synchronized void heard(int peer, long identity, String ranks) {
        // a member that is done may tell of its next group before this rank has looked at the last one
        proposals.computeIfAbsent(peer, key -> new ArrayDeque<>()).add(new Proposal(identity, ranks));
        notifyAll();
    }

    synchronized void wake() {
        notifyAll();
    }

    /** Takes the members off the open list that have told the same; a member that told otherwise disagrees. */
    private boolean settle(BitSet open, long identity, String text) {
        for (int member = open.nextSetBit(0); member >= 0; member = open.nextSetBit(member + 1)) {
            Deque<Proposal> told = proposals.get(member);
            if (told == null || told.isEmpty()) {
                continue;
            }
            Proposal proposal = told.remove();
            if (proposal.identity != identity) {
                throw failure(
                        Code.MISMATCH,
                        Integer.toString(member),
                        "members disagree: rank " + group.rank()
                                + " makes " + text + ", rank " + member + " makes " + proposal.ranks
                                + (proposal.ranks.equals(text) ? " for another time" : ""));
            }
            open.clear(member);
        }
        return open.isEmpty();
    }

    private void await(BitSet open, String text, long deadline, Duration timeout) {
        Failure failed = control.failure();
        if (failed != null) {
            throw failure(failed.code(), failed.culprits(), failed.text());
        }
        int gone = control.departed();
        if (gone >= 0 && open.get(gone)) {
            throw failure(Code.PEER_LOST, Integer.toString(gone), control.closedBy(gone));
        }
        long left = deadline - context.nanoTime();
        if (left <= 0) {
            throw failure(
                    Code.TIMED_OUT,
                    names(open),
                    "gave up on ranks " + open + " after " + timeout.toMillis() + " ms: they never called newGroup("
                            + text + ")");
        }
        try {
            TimeUnit.NANOSECONDS.timedWait(this, Math.min(left, LOOK_NANOS));
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw failure(Code.INTERRUPTED, "", "the thread that waited in newGroup(" + text + ") was interrupted");
        }
    }

    private FerroException failure(Code code, String culprits, String text) {
        Where where = new Where(group.name(), group.rank(), culprits, "newGroup", -1, -1, 0, 0, 0);
        return new FerroException(
                code, where, "newGroup on group \"" + group.name() + "\" rank " + group.rank() + ": " + text);
    }

    private static String names(BitSet ranks) {
        return ranks.stream().mapToObj(Integer::toString).collect(Collectors.joining(","));
    }
}
