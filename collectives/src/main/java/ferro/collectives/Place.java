package ferro.collectives;

import ferro.collectives.algorithm.TunedRows;
import ferro.collectives.control.GroupControl;
import ferro.collectives.control.Hashing;
import ferro.collectives.control.Membership;
import ferro.collectives.control.Rules;
import ferro.collectives.control.Standings;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Transport;
import java.util.stream.IntStream;

/**
 * Which group it is among all groups of the same processes.
 *
 * @param identity   64 bits
 * @param membership of the joined group
 * @param ranks      ranks of the joined group, in the order of this one
 * @param standings  where this rank stands in all of these groups
 * @param manner     how all of them are driven
 * @param left       which of them are open, or were left
 */
record Place(long identity, Membership membership, int[] ranks, Standings standings, Manner manner, LeftGroups left) {
    /** Where no control message ever comes, nothing is waited for before a loss is blamed. */
    private static final Rules NOTHING_TO_READ = new Rules() {
        @Override
        public long eofGraceNanos() {
            return 0;
        }
    };

    /**
     * What a group and those made of it have in common.
     *
     * @param stepped  whether somebody else drives
     * @param together how many operations may be under way at once
     * @param rules    what is decided when something goes wrong
     * @param tuned    the table of algorithms in force
     */
    record Manner(boolean stepped, int together, Rules rules, TunedRows tuned) {}

    /** Returns the place of a group that was joined, which watches the processes of its ranks. */
    static Place watched(Transport transport, GroupSpec group, RankContext context, Manner manner) {
        long identity = Hashing.of(group.name());
        LeftGroups left = manner.stepped ? LeftGroups.stepped() : LeftGroups.of(context);
        return joined(identity, Membership.watching(transport, group, context, identity), group, manner, left);
    }

    /** Returns the place of a group without a control lane: nobody is watched, nobody tells why a peer has gone, or a table. */
    static Place unwatched(GroupSpec group, TunedRows tuned) {
        // what one peer does not take yet may keep from another what it waits for
        Manner manner = new Manner(false, 1, NOTHING_TO_READ, tuned);
        return joined(Hashing.of(group.name()), Membership.unwatched(), group, manner, LeftGroups.stepped());
    }

    private static Place joined(long identity, Membership membership, GroupSpec group, Manner manner, LeftGroups left) {
        int[] all = IntStream.range(0, group.worldSize()).toArray();
        return new Place(identity, membership, all, new Standings(), manner, left);
    }

    Place child(long child, int[] members) {
        int[] joined = IntStream.of(members).map(rank -> ranks[rank]).toArray();
        return new Place(child, membership, joined, standings, manner, left);
    }

    /** Whether a group of this place was joined, and not made of another. */
    boolean isJoined(GroupSpec group) {
        return identity == Hashing.of(group.name());
    }

    GroupControl.Place control() {
        return new GroupControl.Place(ranks, standings, membership);
    }
}
