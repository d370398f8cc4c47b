package ferro.control.group;

import ferro.InvalidRankException;
import ferro.control.failure.Failure;
import ferro.spi.GroupSpec;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/** The groups that the other ranks make, by rank and round; under the lock of {@link SubgroupAgreement}. */
final class SubgroupProposals {
    /** A rank further ahead than this sends invalid rounds; one that retries again and again is ahead by far less. */
    private static final long AHEAD_MOST = 4096;

    private final Map<Integer, Map<Long, Proposal>> told = new HashMap<>();
    private final Map<Integer, Long> rounds = new HashMap<>();
    private long searches;

    /** The group that a rank makes, and why it has given it up, or null. */
    record Proposal(long attempt, long hash, String ranks, Failure given) {}

    /**
     * Returns the position of this rank among the members of a new group.
     *
     * @throws ferro.InvalidRankException if a member is no rank of the group
     * @throws IllegalArgumentException   if this rank is no member, or a rank is a member twice
     */
    static int position(int[] members, GroupSpec group) {
        String call = "newGroup on group \"" + group.name() + "\": rank ";
        int position = -1;
        for (int at = 0; at < members.length; at++) {
            InvalidRankException.check("newGroup", "member", members[at], group.worldSize());
            position = members[at] == group.rank() ? at : position;
            for (int before = 0; before < at; before++) {
                if (members[at] == members[before]) {
                    throw new IllegalArgumentException(
                            call + members[at] + " appears twice in " + Arrays.toString(members));
                }
            }
        }
        if (position < 0) {
            throw new IllegalArgumentException(
                    call + group.rank() + " is not among " + Arrays.toString(members) + ": only members may call it");
        }
        return position;
    }

    /** Begins the next round with a rank. */
    long nextRound(int member) {
        return rounds.merge(member, 1L, Long::sum);
    }

    /**
     * Records what a rank makes at a round. That rank may have finished this round and tell of its next one before this
     * rank reads it.
     *
     * @throws IllegalArgumentException if the rank cannot have reached that round
     */
    void add(int peer, long round, Proposal proposal) {
        long last = rounds.getOrDefault(peer, 0L);
        if (round < 1 || round - last > AHEAD_MOST) {
            throw new IllegalArgumentException("newGroup proposal for round " + round + " from rank " + peer
                    + ": need a round above 0 and at most " + AHEAD_MOST + " rounds after " + last);
        }
        if (round >= rounds.getOrDefault(peer, 0L)) {
            told.computeIfAbsent(peer, key -> new HashMap<>()).put(round, proposal);
        }
    }

    /** Records that a rank has given up what it makes at a round. Returns false if its proposal is missing or taken. */
    boolean giveUp(int peer, long round, Failure why) {
        Map<Long, Proposal> open = told.getOrDefault(peer, Map.of());
        Proposal proposal = open.get(round);
        if (proposal == null) {
            return false;
        }
        open.put(round, new Proposal(proposal.attempt, proposal.hash, proposal.ranks, why));
        return true;
    }

    /** Removes and returns the proposal of a rank for a round, or null; also drops its proposals for earlier rounds. */
    Proposal take(int member, long round) {
        searches++;
        Map<Long, Proposal> open = told.get(member);
        if (open == null) {
            return null;
        }
        open.keySet().removeIf(earlier -> earlier < round);
        return open.remove(round);
    }

    /** Returns the ranks whose proposals are not taken yet. */
    BitSet waiting() {
        BitSet ranks = new BitSet();
        told.forEach((peer, open) -> ranks.set(peer, !open.isEmpty()));
        return ranks;
    }

    /** Returns how often {@link #take} was called. */
    long searches() {
        return searches;
    }
}
