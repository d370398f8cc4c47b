package ferro.training.checkpoint;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Deals objects to ranks so that all have about as many bytes: the largest first, each to the rank that has least. */
final class Dealing {
    private final long[] load;

    Dealing(int worldSize) {
        load = new long[worldSize];
    }

    /** Returns indices, by descending size; equal sizes keep their order. */
    static List<Integer> largestFirst(long[] bytes) {
        List<Integer> order = new ArrayList<>();
        for (int index = 0; index < bytes.length; index++) {
            order.add(index);
        }
        order.sort(Comparator.comparingLong((Integer index) -> bytes[index]).reversed());
        return order;
    }

    /** Returns the rank of each object, any rank: a function of its arguments alone. */
    static int[] byBytes(long[] bytes, int worldSize) {
        Dealing dealing = new Dealing(worldSize);
        List<Integer> all = new ArrayList<>();
        for (int rank = 0; rank < worldSize; rank++) {
            all.add(rank);
        }
        int[] ranks = new int[bytes.length];
        for (int index : largestFirst(bytes)) {
            ranks[index] = dealing.deal(bytes[index], all);
        }
        return ranks;
    }

    /** Deals one object to one of some ranks, the lowest of those that have least. */
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
