package ferro.collectives.control;

import ferro.FerroException.Code;
import java.util.HashMap;
import java.util.Map;

/** What the other ranks have told of the groups that they make, by rank and turn; under the lock of {@link Agreement}. */
final class Proposals {
    /** A rank that is further ahead than this makes up turns; one that tries again and again is behind by far less. */
    private static final long AHEAD_MOST = 4096;

    private final Map<Integer, Map<Long, Proposal>> told = new HashMap<>();
    private final Map<Integer, Long> turns = new HashMap<>();

    /** What a rank said it makes, and why it has given it up, or null. */
    record Proposal(long attempt, long hash, String ranks, Given given) {}

    /** Why a rank has given up what it made, and whom it blames. */
    record Given(Code code, String culprits, String text) {}

    /** Begins the next turn with a rank. */
    long nextTurn(int member) {
        return turns.merge(member, 1L, Long::sum);
    }

    /**
     * Notes what a rank makes at a turn; it may be done with this one and tell of its next before this rank looks.
     *
     * @throws IllegalArgumentException if the turn is none that it can have come to
     */
    void add(int peer, long turn, Proposal proposal) {
        long last = turns.getOrDefault(peer, 0L);
        if (turn < 1 || turn - last > AHEAD_MOST) {
            throw new IllegalArgumentException("newGroup at turn " + turn + " with rank " + peer
                    + ", need one above 0 and at most " + AHEAD_MOST + " after " + last);
        }
        if (turn >= turns.getOrDefault(peer, 0L)) {
            told.computeIfAbsent(peer, key -> new HashMap<>()).put(turn, proposal);
        }
    }

    /** Notes that a rank has given up what it makes at a turn; returns false if it is not there, or was taken already. */
    boolean giveUp(int peer, long turn, Given why) {
        Map<Long, Proposal> open = told.getOrDefault(peer, Map.of());
        Proposal proposal = open.get(turn);
        if (proposal == null) {
            return false;
        }
        open.put(turn, new Proposal(proposal.attempt, proposal.hash, proposal.ranks, why));
        return true;
    }

    /** Takes what a rank told for a turn, or null; what it told for earlier turns is of no use any more. */
    Proposal take(int member, long turn) {
        Map<Long, Proposal> open = told.get(member);
        if (open == null) {
            return null;
        }
        open.keySet().removeIf(earlier -> earlier < turn);
        return open.remove(turn);
    }
}
