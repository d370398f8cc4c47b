package ferro.collectives.control;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.time.Duration;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * How the members of a new group agree on it: each tells the others the ranks and the number of its attempt, and waits to
 * hear the same ranks from all.
 *
 * <p>The identity of the group is made from parent, ranks and all members' attempts, so that no store is needed and no
 * attempt is taken for an earlier one. Between two ranks the k-th attempt of one that includes the other meets the k-th of
 * the other ("turn"): a member that makes another list there disagrees, which fails at once. Whoever fails takes back what
 * it told, which ends the attempts that met it, also those still to come; the parent stays as it was, and the next attempts
 * may succeed.
 */
public final class Agreement {
    /** Failures of the parent wake the waiter; this bounds how long a clock that jumps could hide a deadline. */
    private static final long LOOK_NANOS = 100_000_000L;

    private final GroupControl control;
    private final GroupSpec group;
    private final RankContext context;
    private final Map<Integer, Map<Long, Proposal>> proposals = new HashMap<>();
    private final Map<Integer, Long> turns = new HashMap<>();
    private long attempts;
    private Attempt current;

    /** What a rank said it makes, and why it has given it up, or null. */
    private record Proposal(long attempt, String hash, String ranks, FerroException given) {}

    /** What this rank makes now. */
    private static final class Attempt {
        final String ranks;
        final String hash;
        final BitSet open = new BitSet();
        final Map<Integer, Long> heard = new HashMap<>();
        final Map<Integer, Long> turns = new HashMap<>();
        FerroException ended;

        Attempt(String ranks) {
            this.ranks = ranks;
            this.hash = Long.toHexString(Hashing.of(ranks));
        }
    }

    Agreement(GroupControl control, GroupSpec group, RankContext context) {
        this.control = control;
        this.group = group;
        this.context = context;
    }

    /**
     * Tells the other members and waits until all have told the same.
     *
     * @param parent  identity of this group
     * @param ranks   ranks of this group, in the order of the new one, this one among them
     * @param timeout until all have called
     * @return identity of the new group, 64 bits, equal on all members
     * @throws FerroException MISMATCH if a member makes another group, TIMED_OUT naming the members that never called,
     *     INTERRUPTED, what ended it on another member, or whatever the parent fails with
     */
    public long reach(long parent, int[] ranks, Duration timeout) {
        long deadline = context.nanoTime() + Deadlines.nanos(timeout);
        Attempt mine = new Attempt(Arrays.toString(ranks));
        long number = begin(mine, ranks);
        try {
            mine.turns.forEach((member, turn) -> control.tell(member, ControlMessage.agree(number, turn, mine.ranks)));
            synchronized (this) {
                while (!settle(mine)) {
                    await(mine, deadline, timeout);
                }
                return identity(parent, ranks, mine, number);
            }
        } catch (FerroException failure) {
            mine.turns.forEach((member, turn) -> control.tell(
                    member,
                    ControlMessage.cancel(turn, failure.code(), failure.where().culprits(), failure.getMessage())));
            throw failure;
        } finally {
            end(mine);
        }
    }

    /** Hears that a rank makes a group. */
    synchronized void heard(int peer, ControlMessage agree) {
        long turn = agree.hash();
        // a member that is done may tell of its next group before this rank has looked at the last one
        if (turn >= turns.getOrDefault(peer, 0L)) {
            proposals
                    .computeIfAbsent(peer, key -> new HashMap<>())
                    .put(turn, new Proposal(agree.sequence(), agree.culprits(), agree.text(), null));
            notifyAll();
        }
    }

    /** Hears that a rank has given up what it made at a turn, and whom it blames; nobody means itself. */
    synchronized void cancelled(int peer, long turn, Code code, String culprits, String text) {
        FerroException given = failure(
                code == Code.INTERRUPTED ? Code.ABORTED : code,
                culprits.isEmpty() ? Integer.toString(peer) : culprits,
                "rank " + peer + " gave it up: " + text);
        Map<Long, Proposal> told = proposals.getOrDefault(peer, Map.of());
        Proposal open = told.get(turn);
        if (open != null) {
            told.put(turn, new Proposal(open.attempt, open.hash, open.ranks, given));
        } else if (current != null && Long.valueOf(turn).equals(current.turns.get(peer))) {
            current.ended = given;
        }
        notifyAll();
    }

    synchronized void wake() {
        notifyAll();
    }

    private synchronized long begin(Attempt mine, int[] ranks) {
        if (current != null) {
            throw new IllegalStateException("newGroup(" + mine.ranks + ") on group \"" + group.name() + "\" rank "
                    + group.rank() + " while another thread waits in newGroup(" + current.ranks
                    + "): one at a time, in the same order on all members");
        }
        for (int member : ranks) {
            if (member != group.rank()) {
                mine.open.set(member);
                mine.turns.put(member, turns.merge(member, 1L, Long::sum));
            }
        }
        current = mine;
        return ++attempts;
    }

    private synchronized void end(Attempt mine) {
        if (current == mine) {
            current = null;
        }
    }

    private long identity(long parent, int[] ranks, Attempt mine, long number) {
        long hash = parent;
        for (int member : ranks) {
            long attempt = member == group.rank() ? number : mine.heard.get(member);
            hash = Hashing.mix(Hashing.mix(hash, member), attempt);
        }
        return hash;
    }

    /** Takes the members off the open list that have told the same; a member that told otherwise disagrees. */
    private boolean settle(Attempt mine) {
        for (int member = mine.open.nextSetBit(0); member >= 0; member = mine.open.nextSetBit(member + 1)) {
            Proposal proposal = take(member, mine.turns.get(member));
            if (proposal == null) {
                continue;
            }
            mine.heard.put(member, proposal.attempt);
            if (!proposal.hash.equals(mine.hash)) {
                throw failure(
                        Code.MISMATCH,
                        Integer.toString(member),
                        "members disagree: rank " + group.rank() + " makes " + mine.ranks + ", rank " + member
                                + " makes " + proposal.ranks);
            }
            if (proposal.given != null) {
                throw proposal.given;
            }
            mine.open.clear(member);
        }
        return mine.open.isEmpty();
    }

    /** Takes what a rank told for a turn, or null; what it told for earlier turns is of no use any more. */
    private Proposal take(int member, long turn) {
        Map<Long, Proposal> told = proposals.get(member);
        if (told == null) {
            return null;
        }
        told.keySet().removeIf(earlier -> earlier < turn);
        return told.remove(turn);
    }

    private void await(Attempt mine, long deadline, Duration timeout) {
        if (mine.ended != null) {
            throw mine.ended;
        }
        Failure failed = control.failure();
        if (failed != null) {
            throw failure(failed.code(), failed.culprits(), failed.text());
        }
        int gone = control.departed();
        if (gone >= 0 && mine.open.get(gone)) {
            throw failure(Code.PEER_LOST, Integer.toString(gone), control.closedBy(gone));
        }
        long left = deadline - context.nanoTime();
        if (left <= 0) {
            throw failure(
                    Code.TIMED_OUT,
                    names(mine.open),
                    "gave up on ranks " + mine.open + " after " + timeout.toMillis()
                            + " ms: they never called newGroup(" + mine.ranks + ")");
        }
        try {
            TimeUnit.NANOSECONDS.timedWait(this, Math.min(left, LOOK_NANOS));
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw failure(
                    Code.INTERRUPTED, "", "the thread that waited in newGroup(" + mine.ranks + ") was interrupted");
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
