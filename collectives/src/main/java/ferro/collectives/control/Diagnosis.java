package ferro.collectives.control;

import java.util.BitSet;
import java.util.StringJoiner;

/**
 * Who is to blame for an operation that does not end, by what the ranks have answered: the ranks that have not made the call
 * or are silent, but for those that wait, in another operation, for another of these. Where all have made the call it is the
 * end of the chain of who waits for whom.
 */
public final class Diagnosis {
    private static final int LISTED_MOST = 8;
    private static final long PAUSE_MILLIS = 100;

    private final int self;
    private final int[] joinedRanks;
    private final Status[] answers;
    private final long sequence;

    /**
     * What has been found.
     *
     * @param culprits ranks to blame
     * @param text     for people: who is where
     */
    public record Verdict(BitSet culprits, String text) {}

    Diagnosis(int self, int[] joinedRanks, Status[] answers, long sequence) {
        this.self = self;
        this.joinedRanks = joinedRanks;
        this.answers = answers;
        this.sequence = sequence;
    }

    /** Judges a collective, by the ranks whose data this one waits for. */
    Verdict ofCollective(BitSet waitedFor) {
        BitSet missing = new BitSet();
        for (int rank = 0; rank < answers.length; rank++) {
            if (rank != self && (answers[rank] == null || answers[rank].sequence() < sequence)) {
                missing.set(rank);
            }
        }
        if (missing.isEmpty()) {
            BitSet end = endOfChain(waitedFor);
            return new Verdict(end, text(end, end));
        }
        BitSet ends = endsAmong(missing);
        return new Verdict(ends, text(ends, missing));
    }

    /** Judges what waits for some ranks only: a receive, a send, a new group. */
    Verdict ofWaiting(BitSet waitedFor) {
        BitSet ends = endOfChain(waitedFor);
        BitSet listed = (BitSet) ends.clone();
        listed.or(waitedFor);
        return new Verdict(ends, text(ends, listed));
    }

    /** Judges a new group, by the members that have not called. */
    Verdict ofMissing(BitSet missing) {
        BitSet ends = endsAmong(missing);
        return new Verdict(ends, text(ends, missing));
    }

    /** Leaves out those of a set that wait for others of it. */
    private BitSet endsAmong(BitSet missing) {
        BitSet ends = new BitSet();
        missing.stream()
                .filter(rank -> !waitsFor(rank).intersects(without(missing, rank)))
                .forEach(ends::set);
        return ends.isEmpty() ? missing : ends;
    }

    /** Follows who waits for whom; those at the end wait for nobody, or in a circle. */
    private BitSet endOfChain(BitSet first) {
        BitSet seen = (BitSet) first.clone();
        BitSet ends = new BitSet();
        BitSet open = (BitSet) first.clone();
        while (!open.isEmpty()) {
            int rank = open.nextSetBit(0);
            open.clear(rank);
            BitSet next = rank == self ? new BitSet() : waitsFor(rank);
            if (rank != self && next.isEmpty()) {
                ends.set(rank);
            }
            next.andNot(seen);
            seen.or(next);
            open.or(next);
        }
        // nobody is an end: all wait for each other
        return ends.isEmpty() ? seen : ends;
    }

    private BitSet waitsFor(int rank) {
        return answers[rank] == null ? new BitSet() : answers[rank].waitsForOf(joinedRanks);
    }

    private static BitSet without(BitSet ranks, int rank) {
        BitSet others = (BitSet) ranks.clone();
        others.clear(rank);
        return others;
    }

    private String text(BitSet first, BitSet listed) {
        StringJoiner text = new StringJoiner("; ");
        BitSet rest = (BitSet) listed.clone();
        rest.andNot(first);
        first.stream().limit(LISTED_MOST).forEach(rank -> text.add(whereIs(rank)));
        rest.stream().limit(LISTED_MOST).forEach(rank -> text.add(whereIs(rank)));
        int untold = Math.max(0, first.cardinality() - LISTED_MOST) + Math.max(0, rest.cardinality() - LISTED_MOST);
        if (untold > 0) {
            text.add("and " + untold + " more");
        }
        if (sequence > 0) {
            addThoseThere(text, listed);
        }
        return text.toString();
    }

    private void addThoseThere(StringJoiner text, BitSet listed) {
        BitSet there = new BitSet();
        for (int rank = 0; rank < answers.length; rank++) {
            if (rank == self || listed.get(rank) || answers[rank] == null) {
                continue;
            }
            if (answers[rank].sequence() > sequence) {
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
            return "rank " + rank + " is this one";
        }
        Status status = answers[rank];
        if (status == null) {
            return "rank " + rank + " does not answer: its process stands still, or cannot be reached";
        }
        StringBuilder text = new StringBuilder("rank ").append(rank);
        if (sequence > 0 && status.sequence() < sequence) {
            text.append(" has not called it, its last call is ")
                    .append(lastCall(status))
                    .append(", and it is ");
        } else {
            text.append(" is ");
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
