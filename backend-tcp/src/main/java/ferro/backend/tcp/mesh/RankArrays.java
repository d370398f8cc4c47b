package ferro.backend.tcp.mesh;

import ferro.spi.GroupSpec;

/**
 * Functions on arrays of rank numbers. They use no streams, because linking the lambdas of a stream would slow the
 * join.
 */
public final class RankArrays {
    private RankArrays() {}

    /** Returns the ranks of a group, in ascending order. */
    public static int[] all(int worldSize) {
        int[] all = new int[worldSize];
        for (int rank = 0; rank < worldSize; rank++) {
            all[rank] = rank;
        }
        return all;
    }

    /** Returns the members at the given indices, in the order of the indices. */
    static int[] chosen(int[] members, int[] numbers) {
        int[] chosen = new int[numbers.length];
        for (int at = 0; at < numbers.length; at++) {
            chosen[at] = members[numbers[at]];
        }
        return chosen;
    }

    /** Returns all ranks of a group except this rank, in ascending order. */
    static int[] others(GroupSpec group) {
        int[] others = new int[group.worldSize() - 1];
        for (int at = 0; at < others.length; at++) {
            others[at] = at < group.rank() ? at : at + 1;
        }
        return others;
    }
}
