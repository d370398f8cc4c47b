package ferro.control.failure;

import ferro.FerroException.Code;
import ferro.control.wire.RankLists;
import java.util.BitSet;
import java.util.StringJoiner;
import java.util.concurrent.TimeUnit;

/**
 * Determines which ranks to blame for an operation that does not end, from the answers of the ranks. The ranks at the
 * end of the chain of waiting ranks are to blame. The chain begins at the ranks that have not made the call, or, if all
 * have made it, at the ranks that this one waits for. A rank that is silent or waits for no rank ends the chain. A rank
 * that has made the call and waits outside of the group does not end it. If ranks wait for each other in a cycle, no
 * rank alone is to blame: all ranks of the cycle are culprits, and the text says so. A rank that has made a call is not
 * necessarily in it: it may have queued calls behind one that does not end. If all ranks have made the call and answer
 * and data of this rank still moves, no rank is to blame: all may be slow. If this rank stood still and all that it waits
 * for have left, it is to blame itself.
 */
public final class Diagnosis {
    private static final int LISTED_MOST = 8;
    /** Shorter pauses of a process are not reported, because they delay no call. */
    private static final long PAUSE_NANOS = 100_000_000L;

    private final int self;
    private final Machines machines;
    private final Status[] answers;
    private final BitSet slow;
    private final long sequence;
    private final BitSet[] waits;
    /** The ranks as they answer. */
    private final WaitGraph waiting = new WaitGraph(this::waitsFor, this::waitsForAny);
    /** The ranks that hold up each rank. A rank that waits for any of several ranks is held up only if it is stuck. */
    private final WaitGraph graph = new WaitGraph(this::heldUpBy);

    private BitSet mine = new BitSet();
    private OwnState own = OwnState.QUIET;
    /** Whether one of the ranks that this one waits for is enough. */
    private boolean isOneSufficient;
    /** The ranks that can never go on; null until it is needed. */
    private BitSet stuck;
    /** What this rank is in, for people. */
    private String ownCall = "in this call";
    /** The ranks that wait for each other; empty if a chain has an end. */
    private BitSet cycle = new BitSet();

    /**
     * The result of a diagnosis.
     *
     * @param culprits ranks to blame
     * @param text     for people: the state of each rank
     * @param isNoRankAlone whether no rank alone is to blame: the culprits wait for each other, or there are none because
     *     data still moves
     */
    public record Blame(BitSet culprits, String text, boolean isNoRankAlone) {
        /** Makes the failure of a rank that gives up an operation, which keeps whether all ranks are only slow. */
        public Failure timedOut(int origin, long sequence, String said) {
            int known = isNoRankAlone && culprits.isEmpty() ? 1 : 0;
            return new Failure(Code.TIMED_OUT, origin, sequence, RankLists.numbers(culprits), said, null, known);
        }
    }

    /**
     * What this rank knows of itself during the call.
     *
     * @param pausedNanos how long its process stood still
     * @param movedNanos  a time before now within which data of this rank moved, or 0 if none did
     */
    public record OwnState(long pausedNanos, long movedNanos) {
        /** The state of a rank that did not stand still, and of which no data moved. */
        public static final OwnState QUIET = new OwnState(0, 0);
    }

    /** Takes the answers, null for a silent rank, and the ranks that have not answered the last question. */
    public Diagnosis(Machines machines, Status[] answers, BitSet slow, long sequence) {
        this.self = machines.self();
        this.machines = machines;
        this.answers = answers;
        this.slow = slow;
        this.sequence = sequence;
        this.waits = new BitSet[answers.length];
    }

    /** Judges a collective by the ranks whose data this rank waits for. */
    public Blame ofCollective(BitSet waitedFor) {
        return ofCollective(waitedFor, OwnState.QUIET);
    }

    /** Judges a collective, by the ranks whose data this rank waits for and by its own state. */
    public Blame ofCollective(BitSet waitedFor, OwnState ownState) {
        mine = waitedFor;
        own = ownState;
        BitSet missing = new BitSet();
        for (int rank = 0; rank < answers.length; rank++) {
            if (rank != self && (answers[rank] == null || answers[rank].isBehind(sequence))) {
                missing.set(rank);
            }
        }
        if (missing.isEmpty()) {
            // all ranks were there: blames those that are silent since, else the end of the chain of waiting ranks
            BitSet end = slow.isEmpty() ? endOfChain(waitedFor) : slow;
            return blameForEnd(end, end);
        }
        return blameForMissing(missing);
    }

    /** Returns the verdict on the ranks at the end of the chain of waiting ranks, which also lists other ranks. */
    private Blame blameForEnd(BitSet end, BitSet others) {
        BitSet listed = (BitSet) end.clone();
        listed.or(others);
        BitSet owing = own.pausedNanos >= PAUSE_NANOS ? owing(end) : end;
        boolean isOwnPause = owing.get(self) && owing.cardinality() == 1;
        if (own.movedNanos > 0 && !isOwnPause && !isDeadlock() && !isAnySilent(listed)) {
            String within = " moved within the last " + TimeUnit.NANOSECONDS.toMillis(own.movedNanos) + " ms: ";
            String why = "no rank is singled out, because data of " + machines.named(self) + within;
            return new Blame(new BitSet(), why + text(new BitSet(), listed), true);
        }
        if (isCycle() && owing.equals(cycle)) {
            return blameOfCycle(others);
        }
        listed = (BitSet) owing.clone();
        listed.or(others);
        return new Blame(owing, text(owing, listed), false);
    }

    /** Returns whether ranks wait for each other for good. Those that are all in collectives may only be slow. */
    private boolean isDeadlock() {
        return isCycle() && (sequence == 0 || isAnyInNoCollective());
    }

    private boolean isAnyInNoCollective() {
        for (int rank = cycle.nextSetBit(0); rank >= 0; rank = cycle.nextSetBit(rank + 1)) {
            if (rank != self && answers[rank].running() == 0) {
                return true;
            }
        }
        return false;
    }

    private boolean isAnySilent(BitSet ranks) {
        for (int rank = ranks.nextSetBit(0); rank >= 0; rank = ranks.nextSetBit(rank + 1)) {
            if (rank != self && (answers[rank] == null || slow.get(rank))) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns the ranks without those that have left: a rank that has left has done its part of what is under way. If
     * no other rank remains, this rank was prevented from finishing.
     */
    private BitSet owing(BitSet end) {
        BitSet owing = new BitSet();
        for (int rank = end.nextSetBit(0); rank >= 0; rank = end.nextSetBit(rank + 1)) {
            owing.set(rank, rank == self || answers[rank] == null || !answers[rank].isOfALeaver());
        }
        owing.set(self, owing.isEmpty() || owing.get(self));
        return owing;
    }

    /**
     * Judges an operation that waits for some ranks only: a receive or a send.
     *
     * @param waitedFor ranks that this rank waits for
     * @param ownState  what this rank knows of itself
     * @param ownCall   what this rank is in, for people; empty if a message is in flight, which waits for its link and
     *     not for a call
     * @return ranks to blame, and the state of each rank
     */
    public Blame ofWaiting(BitSet waitedFor, OwnState ownState, String ownCall) {
        mine = waitedFor;
        own = ownState;
        this.ownCall = ownCall;
        BitSet end = endOfChain(waitedFor);
        if (ownCall.isEmpty()) {
            // the rank has done its part of a message in flight
            end.clear(self);
        }
        return blameForEnd(end, waitedFor);
    }

    /**
     * Judges an operation that waits for any of some ranks: a receive from any rank. No rank is to blame as long as one of
     * them can go on.
     *
     * @param waitedFor ranks of which one is enough
     * @param ownCall   what this rank is in, for people
     * @return ranks to blame, which wait for each other; empty if none is to blame. The text has the state of each rank
     */
    public Blame ofWaitingForAny(BitSet waitedFor, String ownCall) {
        mine = waitedFor;
        isOneSufficient = true;
        this.ownCall = ownCall;
        if (!isStuck(self)) {
            return new Blame(new BitSet(), text(new BitSet(), waitedFor), false);
        }
        cycle = graph.cycles(waitedFor);
        return isCycle() ? blameOfCycle(waitedFor) : new Blame(cycle, text(cycle, waitedFor), false);
    }

    /** Judges a new group by the members that have not called. */
    public Blame ofMissing(BitSet missing) {
        mine = missing;
        ownCall = ""; // only calls that members have made can be a cycle
        BitSet ends = endOfMissing(missing);
        return new Blame(ends, text(ends, missing), false);
    }

    private Blame blameForMissing(BitSet missing) {
        BitSet ends = endOfMissing(missing);
        return isCycle() && (cycle.intersects(missing) || cycle.get(self))
                ? blameOfCycle(missing)
                : new Blame(ends, text(ends, missing), false);
    }

    /** Returns whether the search has found several ranks that wait for each other. */
    private boolean isCycle() {
        return cycle.cardinality() > 1 && !ownCall.isEmpty();
    }

    /** Returns the verdict on ranks that wait for each other, which also lists other ranks. */
    private Blame blameOfCycle(BitSet others) {
        BitSet listed = (BitSet) cycle.clone();
        listed.or(others);
        String text = machines.named(cycle) + " wait for each other, so no rank alone is to blame: ";
        return new Blame(cycle, text + text(cycle, listed), true);
    }

    /**
     * Follows the chain of waiting ranks from the ranks that have not made the call. A rank that has made it and waits
     * for ranks outside of this group does not end the chain: it has done its part here, and the end of its chain is
     * not visible from here.
     */
    private BitSet endOfMissing(BitSet missing) {
        BitSet ends = endOfChain(missing);
        if (ends.intersects(missing)) {
            ends.and(missing);
            return ends;
        }
        BitSet seen = new BitSet();
        for (int rank = ends.nextSetBit(0); rank >= 0; rank = ends.nextSetBit(rank + 1)) {
            seen.set(rank, !waitsOutside(rank));
        }
        return seen.isEmpty() ? missing : seen;
    }

    private boolean waitsOutside(int rank) {
        return rank != self
                && answers[rank] != null
                && !answers[rank].waitsFor().isEmpty()
                && waitsFor(rank).isEmpty();
    }

    /** Follows the chain of waiting ranks. The ranks at its end wait for no rank, or for each other. */
    private BitSet endOfChain(BitSet first) {
        BitSet ends = graph.ends(first);
        ends.clear(self);
        if (!ends.isEmpty()) {
            return ends;
        }
        cycle = graph.cycles(first);
        return cycle.isEmpty() ? graph.reachedFrom(first) : (BitSet) cycle.clone();
    }

    /** Returns the ranks that a rank waits for. Callers must not change the set: a rank's answer is decoded once. */
    private BitSet waitsFor(int rank) {
        if (rank == self) {
            return mine;
        }
        if (waits[rank] == null) {
            waits[rank] = answers[rank] == null ? new BitSet() : answers[rank].waitsForOf(machines.joinedRanks());
        }
        return waits[rank];
    }

    private boolean waitsForAny(int rank) {
        return rank == self ? isOneSufficient : answers[rank] != null && answers[rank].waitsForAny();
    }

    private BitSet heldUpBy(int rank) {
        return waitsForAny(rank) && !isStuck(rank) ? new BitSet() : waitsFor(rank);
    }

    private boolean isStuck(int rank) {
        if (stuck == null) {
            BitSet all = new BitSet();
            all.set(0, answers.length);
            stuck = waiting.stuck(all);
        }
        return stuck.get(rank);
    }

    private String text(BitSet first, BitSet listed) {
        StringJoiner text = new StringJoiner("; ");
        BitSet rest = (BitSet) listed.clone();
        rest.andNot(first);
        BitSet said = new BitSet();
        int untold = list(text, first, said) + list(text, rest, said);
        if (untold > 0) {
            text.add("and " + untold + " more");
        }
        if (sequence > 0) {
            addThoseThere(text, listed);
        }
        return text.toString();
    }

    /** Appends the state of each rank, one entry for a wholly silent machine. Returns how many ranks were left out. */
    private int list(StringJoiner text, BitSet ranks, BitSet said) {
        int told = 0;
        int untold = 0;
        for (int rank = ranks.nextSetBit(0); rank >= 0; rank = ranks.nextSetBit(rank + 1)) {
            if (said.get(rank)) {
                continue;
            }
            BitSet machine = machines.sharing(rank, other -> answers[other] == null);
            said.set(rank);
            said.or(machine);
            if (told++ < LISTED_MOST) {
                text.add(machine.isEmpty() ? whereIs(rank) : machines.silence(machine));
            } else {
                untold += Math.max(1, machine.cardinality());
            }
        }
        return untold;
    }

    private void addThoseThere(StringJoiner text, BitSet listed) {
        BitSet there = new BitSet();
        for (int rank = 0; rank < answers.length; rank++) {
            if (rank == self || listed.get(rank) || answers[rank] == null) {
                continue;
            }
            if (answers[rank].isAhead(sequence)) {
                text.add(machines.named(rank) + " is ahead: its last call is " + lastCall(answers[rank]));
            } else {
                there.set(rank);
            }
        }
        if (!there.isEmpty()) {
            text.add(machines.named(there) + (there.cardinality() == 1 ? " is in this call" : " are in this call"));
        }
    }

    private String whereIs(int rank) {
        if (rank == self) {
            return machines.named(rank) + " is "
                    + (cycle.get(self) && isCycle()
                            ? ownCall + ", and reports this"
                            : "the rank that reports this" + paused(own.pausedNanos));
        }
        Status status = answers[rank];
        if (status == null) {
            String machine = machines.away(rank);
            if (!machines.processes().answer()) {
                return machines.named(rank)
                        + " cannot be asked what it does, since this medium has no control messages";
            }
            return machines.named(rank) + (machine.isEmpty() ? "" : " on " + machine) + " does not answer"
                    + Advice.UNANSWERED;
        }
        StringBuilder text = new StringBuilder(machines.named(rank));
        if (sequence > 0 && status.sequence() < sequence) {
            text.append(" has not made this call, its last call is ")
                    .append(lastCall(status))
                    .append(", and it is ");
        } else if (sequence > 0 && status.isBehind(sequence)) {
            text.append(" is behind, ");
        } else {
            text.append(" is ");
        }
        if (slow.get(rank)) {
            text.append("silent now; in its last answer it was ");
        }
        boolean isIdle = status.place().isEmpty();
        text.append(isIdle ? "in no call of ferro" : status.place());
        if (!status.location().isEmpty()) {
            text.append(isIdle ? ": " : ", ").append(status.location());
        }
        return text.append(paused(TimeUnit.MILLISECONDS.toNanos(status.pausedMillis())))
                .toString();
    }

    private static String paused(long nanos) {
        return nanos < PAUSE_NANOS ? "" : " (its process was paused " + RankLists.seconds(nanos) + ")";
    }

    private static String lastCall(Status status) {
        if (!status.isLastCallKnown()) {
            return "unknown";
        }
        return status.sequence() == 0 ? "none" : "seq " + status.sequence() + " (" + status.lastCall() + ")";
    }
}
