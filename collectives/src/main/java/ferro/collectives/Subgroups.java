package ferro.collectives;

import ferro.InvalidRankException;
import ferro.spi.GroupSpec;
import java.util.Arrays;

/** Checks of the ranks of a new group. */
final class Subgroups {
    private Subgroups() {}

    /**
     * Finds this rank's place.
     *
     * @return its rank in the new group
     * @throws IllegalArgumentException if it is not among them, or one is no rank of the parent
     */
    static int position(int[] ranks, GroupSpec parent) {
        int position = -1;
        for (int i = 0; i < ranks.length; i++) {
            if (InvalidRankException.check(ranks[i], parent.worldSize()) == parent.rank()) {
                position = i;
            }
        }
        if (position < 0) {
            throw new IllegalArgumentException("newGroup on group \"" + parent.name() + "\": rank " + parent.rank()
                    + " is not among " + Arrays.toString(ranks) + ": only members may call it");
        }
        return position;
    }
}
