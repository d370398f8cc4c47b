package ferro.control.failure;

import ferro.FerroException.Code;
import ferro.GroupEvent;
import ferro.control.wire.RankSetFormat;
import ferro.spi.GroupSpec;
import java.util.BitSet;
import java.util.List;
import java.util.StringJoiner;
import java.util.concurrent.TimeUnit;

/**
 * The diagnosis of an operation that does not end: the ranks to blame, determined from the answers of all ranks. The
 * ranks at the end of the chain of waiting ranks are to blame.
 *
 * <p>The chain begins at the ranks that have not made the call. If all ranks have made the call, the chain begins at
 * the ranks that this rank waits for. A rank that is silent or waits for no rank ends the chain. A rank that has made
 * the call and waits for ranks of another group does not end the chain. If ranks wait for each other in a cycle, no
 * rank alone is to blame. All ranks of a cycle are culprits, and the text reports the cycle.
 *
 * <p>A rank that has made a call may still be in an earlier call that has not ended. If all ranks have made the call
 * and answer, and data of this rank still moves, all ranks may be slow, so no rank is to blame. If the process of this
 * rank was paused and all ranks that this rank waits for have left, this rank itself is to blame.
 */
public final class Diagnosis {
    private static final int LISTED_MOST = 8;
    /** The shortest pause of a process that is reported. A shorter pause does not delay a call. */
    private static final long PAUSE_NANOS = 100_000_000L;

    private final int self;
    private final Machines machines;
    private final StatusAnswer[] answers;
    private final BitSet slow;
    private final long sequence;
    private final BitSet[] waits;
    /** The graph of waiting ranks, from the answers of the ranks. */
    private final WaitGraph waiting = new WaitGraph(this::waitsFor, this::waitsForAny);
    /** The ranks that hold up each rank. A rank that waits for any of several ranks is held up only if it is stuck. */
    private final WaitGraph graph = new WaitGraph(this::heldUpBy);

    private BitSet mine = new BitSet();
    private OwnState own = OwnState.QUIET;
    /** Whether this rank waits for any one of several ranks. */
    private boolean isOneSufficient;
    /** The ranks that can never go on, or null until the first use of this field. */
    private BitSet stuck;
    /** The call that this rank is in, for people. */
    private String ownCall = "in this call";
    /** The ranks that wait for each other in a cycle; empty if a chain of waiting ranks has an end. */
    private BitSet cycle = new BitSet();

    /**
     * The result of a diagnosis.
     *
     * @param culprits      ranks to blame
     * @param text          state of each rank, for people
     * @param isNoRankAlone whether no rank alone is to blame. True if the culprits wait for each other, or if no rank
     *     is a culprit because data still moves
     */
    public record Blame(BitSet culprits, String text, boolean isNoRankAlone) {
        /** Creates the failure of an operation that timed out. The failure records whether all ranks are only slow. */
        public Failure timedOut(int origin, long sequence, String said) {
            int known = isNoRankAlone && culprits.isEmpty() ? 1 : 0;
            return new Failure(Code.TIMED_OUT, origin, sequence, RankSetFormat.numbers(culprits), said, null, known);
        }

        /** Makes the event of a rank that has waited for a quarter of a timeout. The event names the culprits. */
        public GroupEvent late(GroupSpec group, String said) {
            List<Integer> ranks = culprits.stream().boxed().toList();
            return GroupEvent.of(GroupEvent.Kind.LATE, group.name(), group.rank(), ranks, said);
        }
    }

    /**
     * The state of this rank during the call.
     *
     * @param pausedNanos time for which the process of this rank was paused, in nanoseconds
     * @param movedNanos  length, in nanoseconds, of the period before now in which data of this rank moved; 0 if no
     *     data moved
     */
    public record OwnState(long pausedNanos, long movedNanos) {
        /** The state of a rank whose process was not paused and whose data did not move. */
        public static final OwnState QUIET = new OwnState(0, 0);
    }

    /**
     * Creates a diagnosis of a collective, or of another operation if the sequence is 0. The answer of a silent rank is
     * null. Ranks that have not answered the last question are slow.
     */
    public Diagnosis(Machines machines, StatusAnswer[] answers, BitSet slow, long sequence) {
        this.self = machines.self();
        this.machines = machines;
        this.answers = answers;
        this.slow = slow;
        this.sequence = sequence;
        this.waits = new BitSet[answers.length];
    }

    /** Judges a collective from the ranks whose data this rank waits for. */
    public Blame ofCollective(BitSet waitedFor) {
        return ofCollective(waitedFor, OwnState.QUIET);
    }

    /** Judges a collective from the ranks whose data this rank waits for and from the state of this rank. */
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
            // all ranks made the call: blames the ranks that are silent since, or else the end of the chain of waiting
            // ranks
            BitSet end = slow.isEmpty() ? endOfChain(waitedFor) : slow;
            return blameForEnd(end, end);
        }
        return blameForMissing(missing);
    }

    /**
     * Returns the verdict on the ranks at the end of the chain of waiting ranks. The text of the verdict also lists the
     * given other ranks.
     */
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

    /** Returns whether ranks wait for each other forever. Ranks that are all in collectives may only be slow. */
    private boolean isDeadlock() {
        return isCycle() && (sequence == 0 || isAnyInNoCollective());
    }

    private boolean isAnyInNoCollective() {
        return cycle.stream().anyMatch(rank -> rank != self && answers[rank].running() == 0);
    }

    private boolean isAnySilent(BitSet ranks) {
        return ranks.stream().anyMatch(rank -> rank != self && (answers[rank] == null || slow.get(rank)));
    }

    /**
     * Returns the given ranks without the ranks that have left. A rank that has left has completed its part of the
     * operations in flight. If no given rank remains, returns this rank, because something prevented this rank from
     * finishing.
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
     * Judges an operation that waits for some ranks only, such as a receive or a send.
     *
     * @param waitedFor ranks that this rank waits for
     * @param ownState  state of this rank during the call
     * @param ownCall   call that this rank is in, for people; empty for a message in flight, because a message waits
     *     for its link and not for a call
     * @return ranks to blame, and the state of each rank
     */
    public Blame ofWaiting(BitSet waitedFor, OwnState ownState, String ownCall) {
        mine = waitedFor;
        own = ownState;
        this.ownCall = ownCall;
        BitSet end = endOfChain(waitedFor);
        if (ownCall.isEmpty()) {
            // the rank has completed its part of a message in flight
            end.clear(self);
        }
        return blameForEnd(end, waitedFor);
    }

    /**
     * Judges an operation that waits for any one of several ranks, such as a receive from any rank. No rank is to blame
     * as long as one of the awaited ranks can go on.
     *
     * @param waitedFor ranks that this rank waits for; one of them is enough
     * @param ownCall   call that this rank is in, for people
     * @return ranks to blame, which wait for each other, or no ranks if no rank is to blame. The text contains the
     *     state of each rank
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

    /** Judges the creation of a new group that waits for members that have not made the call. */
    public Blame ofMissing(BitSet missing) {
        mine = missing;
        ownCall = ""; // only calls that members have made can form a cycle
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

    /** Returns the verdict on ranks that wait for each other. The text also lists the other given ranks. */
    private Blame blameOfCycle(BitSet others) {
        BitSet listed = (BitSet) cycle.clone();
        listed.or(others);
        String text = machines.named(cycle) + " wait for each other, so no rank alone is to blame: ";
        return new Blame(cycle, text + text(cycle, listed), true);
    }

    /**
     * Follows the chain of waiting ranks from the ranks that have not made the call. A rank that has made the call and
     * waits for ranks outside of this group does not end the chain. The rank has completed its part in this
     * group, and the end of its chain is not visible in this group.
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

    /** Follows the chain of waiting ranks. The ranks at the end of the chain wait for no rank, or for each other. */
    private BitSet endOfChain(BitSet first) {
        BitSet ends = graph.ends(first);
        ends.clear(self);
        if (!ends.isEmpty()) {
            return ends;
        }
        cycle = graph.cycles(first);
        return cycle.isEmpty() ? graph.reachedFrom(first) : (BitSet) cycle.clone();
    }

    /** Returns the ranks that a rank waits for. Callers must not change the set, because it is decoded only once. */
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

    /** Appends the state of each rank, or one entry for a silent machine. Returns the number of omitted ranks. */
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
        StatusAnswer status = answers[rank];
        if (status == null) {
            String machine = machines.away(rank);
            if (!machines.processes().answer()) {
                return machines.named(rank)
                        + " cannot be asked what it does, since this medium has no control messages";
            }
            return machines.named(rank) + (machine.isEmpty() ? "" : " on " + machine) + " does not answer"
                    + FailureHints.UNANSWERED;
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
        return nanos < PAUSE_NANOS ? "" : " (its process was paused " + RankSetFormat.seconds(nanos) + ")";
    }

    private static String lastCall(StatusAnswer status) {
        if (!status.isLastCallKnown()) {
            return "unknown";
        }
        return status.sequence() == 0 ? "none" : "seq " + status.sequence() + " (" + status.lastCall() + ")";
    }
}
