package ferro.collectives.control;

import java.util.BitSet;
import java.util.StringJoiner;

/**
 * Who is to blame for an operation that does not end, by what the ranks have answered: the end of the chain of who waits for
 * whom, which begins at the ranks that have not made the call, or at those that this one waits for where all have. Whoever
 * is silent, or waits for nobody, is an end; who has made the call and waits outside of the group is none. Where all wait for
 * each other the circle is, and of it those that have not made the call. To have made a call is not to be in it: a rank may
 * have queued calls behind one that does not end.
 */
public final class Diagnosis {
    private static final int LISTED_MOST = 8;
    private static final long PAUSE_MILLIS = 100;

    private final int self;
    private final Machines machines;
    private final Status[] answers;
    private final BitSet slow;
    private final long sequence;
    private final BitSet[] waits;
    private BitSet mine = new BitSet();

    /**
     * What has been found.
     *
     * @param culprits ranks to blame
     * @param text     for people: who is where
     */
    public record Verdict(BitSet culprits, String text) {}

    /** Takes the answers, null for a rank that is silent, and the ranks that have not answered once more. */
    Diagnosis(Machines machines, Status[] answers, BitSet slow, long sequence) {
        this.self = machines.self();
        this.machines = machines;
        this.answers = answers;
        this.slow = slow;
        this.sequence = sequence;
        this.waits = new BitSet[answers.length];
    }

    /** Judges a collective, by the ranks whose data this one waits for. */
    Verdict ofCollective(BitSet waitedFor) {
        return ofCollective(waitedFor, false);
    }

    /** Does so for a process that may have stood still meanwhile. */
    Verdict ofCollective(BitSet waitedFor, boolean stoodStill) {
        mine = waitedFor;
        BitSet missing = new BitSet();
        for (int rank = 0; rank < answers.length; rank++) {
            if (rank != self && (answers[rank] == null || answers[rank].isBehind(sequence))) {
                missing.set(rank);
            }
        }
        if (missing.isEmpty()) {
            // all were there: who has fallen silent since, or else whom the others wait for in the end
            BitSet end = slow.isEmpty() ? endOfChain(waitedFor) : slow;
            BitSet owing = stoodStill ? owing(end) : end;
            return new Verdict(owing, text(owing, end));
        }
        BitSet ends = endOfMissing(missing);
        return new Verdict(ends, text(ends, missing));
    }

    /** A rank that has left has done its part of what is under way: then it is this one that was kept from the end. */
    private BitSet owing(BitSet end) {
        BitSet owing = new BitSet();
        end.stream()
                .forEach(
                        rank -> owing.set(rank, rank == self || answers[rank] == null || !answers[rank].isOfALeaver()));
        owing.set(self, owing.isEmpty() || owing.get(self));
        return owing;
    }

    /** Judges what waits for some ranks only: a receive, a send, a new group. */
    Verdict ofWaiting(BitSet waitedFor) {
        return ofWaiting(waitedFor, false);
    }

    /** Does so for a process that may have stood still meanwhile. */
    Verdict ofWaiting(BitSet waitedFor, boolean stoodStill) {
        mine = waitedFor;
        BitSet end = endOfChain(waitedFor);
        BitSet owing = stoodStill ? owing(end) : end;
        BitSet listed = (BitSet) owing.clone();
        listed.or(waitedFor);
        return new Verdict(owing, text(owing, listed));
    }

    /** Judges a new group, by the members that have not called. */
    Verdict ofMissing(BitSet missing) {
        mine = missing;
        BitSet ends = endOfMissing(missing);
        return new Verdict(ends, text(ends, missing));
    }

    /**
     * Follows who waits for whom from the ranks that have not made the call. A rank that has made it and waits for ranks
     * outside of this group is no end: it has done its part here, and whoever is at the end is not to be seen from here.
     */
    private BitSet endOfMissing(BitSet missing) {
        BitSet ends = endOfChain(missing);
        if (ends.intersects(missing)) {
            ends.and(missing);
            return ends;
        }
        BitSet seen = new BitSet();
        ends.stream().forEach(rank -> seen.set(rank, !waitsOutside(rank)));
        return seen.isEmpty() ? missing : seen;
    }

    private boolean waitsOutside(int rank) {
        return rank != self
                && answers[rank] != null
                && !answers[rank].waitsFor().isEmpty()
                && waitsFor(rank).isEmpty();
    }

    /** Follows who waits for whom; those at the end wait for nobody, or in a circle. */
    private BitSet endOfChain(BitSet first) {
        BitSet seen = reachedFrom(first);
        BitSet ends = new BitSet();
        seen.stream()
                .forEach(rank -> ends.set(rank, rank != self && waitsFor(rank).isEmpty()));
        if (!ends.isEmpty()) {
            return ends;
        }
        BitSet circle = circles(seen);
        return circle.isEmpty() ? seen : circle;
    }

    /** Returns those that wait for themselves in the end: the transitive closure, by Warshall's algorithm. */
    private BitSet circles(BitSet seen) {
        BitSet[] reached = new BitSet[waits.length];
        seen.stream().forEach(rank -> reached[rank] = (BitSet) waitsFor(rank).clone());
        seen.stream()
                .forEach(by -> seen.stream()
                        .filter(rank -> reached[rank].get(by))
                        .forEach(rank -> reached[rank].or(reached[by])));
        BitSet circle = new BitSet();
        seen.stream().forEach(rank -> circle.set(rank, reached[rank].get(rank)));
        return circle;
    }

    /** Returns some ranks and all that these wait for, directly or not. */
    private BitSet reachedFrom(BitSet first) {
        BitSet seen = (BitSet) first.clone();
        BitSet open = (BitSet) first.clone();
        while (!open.isEmpty()) {
            int rank = open.nextSetBit(0);
            open.clear(rank);
            BitSet next = (BitSet) waitsFor(rank).clone();
            next.andNot(seen);
            seen.or(next);
            open.or(next);
        }
        return seen;
    }

    /** Not to be changed: what a rank has answered is read once. */
    private BitSet waitsFor(int rank) {
        if (rank == self) {
            return mine;
        }
        if (waits[rank] == null) {
            waits[rank] = answers[rank] == null ? new BitSet() : answers[rank].waitsForOf(machines.joinedRanks());
        }
        return waits[rank];
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

    /** Says where ranks are, those of a machine that is silent as a whole together; returns how many were too many. */
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
                text.add("rank " + rank + " is ahead: its last call is " + lastCall(answers[rank]));
            } else {
                there.set(rank);
            }
        }
        if (!there.isEmpty()) {
            text.add(Names.ranks(there) + (there.cardinality() == 1 ? " is at it" : " are at it"));
        }
    }

    private String whereIs(int rank) {
        if (rank == self) {
            return "rank " + rank + " is the one that says so";
        }
        Status status = answers[rank];
        if (status == null) {
            String machine = machines.away(rank);
            return "rank " + rank + (machine.isEmpty() ? "" : " on " + machine)
                    + " does not answer: its process stands still, or cannot be reached";
        }
        StringBuilder text = new StringBuilder("rank ").append(rank);
        if (sequence > 0 && status.sequence() < sequence) {
            text.append(" has not called it, its last call is ")
                    .append(lastCall(status))
                    .append(", and it is ");
        } else if (sequence > 0 && status.isBehind(sequence)) {
            text.append(" is behind, ");
        } else {
            text.append(" is ");
        }
        if (slow.get(rank)) {
            text.append("silent now; when it last answered it was ");
        }
        text.append(status.place().isEmpty() ? "in no call of ferro" : status.place());
        if (status.pausedMillis() >= PAUSE_MILLIS) {
            text.append(" (its process was paused ")
                    .append(Names.seconds(status.pausedMillis() * 1_000_000L))
                    .append(')');
        }
        return text.toString();
    }

    private static String lastCall(Status status) {
        return status.sequence() == 0 ? "none" : "seq " + status.sequence() + " (" + status.lastCall() + ")";
    }
}
