package ferro.training.checkpoint;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * An assignment of objects to ranks that gives all ranks about the same number of bytes. The largest object is assigned
 * first. Each object is assigned to the rank that has the fewest bytes before this assignment.
 */
final class RankAssignment {
    private final long[] load;

    RankAssignment(int worldSize) {
        load = new long[worldSize];
    }

    /** Returns the indices of the sizes in descending order of size. Equal sizes keep their order. */
    static List<Integer> largestFirst(long[] bytes) {
        List<Integer> order = new ArrayList<>();
        for (int index = 0; index < bytes.length; index++) {
            order.add(index);
        }
        order.sort(Comparator.comparingLong((Integer index) -> bytes[index]).reversed());
        return order;
    }

    /** Assigns each object to a rank, and returns the rank of each object. The result depends only on the arguments. */
    static int[] byBytes(long[] bytes, int worldSize) {
        RankAssignment assignment = new RankAssignment(worldSize);
        List<Integer> all = new ArrayList<>();
        for (int rank = 0; rank < worldSize; rank++) {
            all.add(rank);
        }
        int[] ranks = new int[bytes.length];
        for (int index : largestFirst(bytes)) {
            ranks[index] = assignment.deal(bytes[index], all);
        }
        return ranks;
    }

    /**
     * Assigns one object to the candidate with the fewest bytes. If several candidates have the fewest bytes, the first
     * of them gets the object.
     */
    int deal(long bytes, List<Integer> candidates) {
        int least = candidates.get(0);
        for (int rank : candidates) {
            if (load[rank] < load[least]) {
                least = rank;
            }
        }
        load[least] += bytes;
        return least;
    }
}
