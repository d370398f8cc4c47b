package ferro.collectives.algorithm;

import ferro.collectives.plan.Extent;
import ferro.collectives.plan.Plan;
import ferro.collectives.plan.PlanBuilder;
import ferro.collectives.plan.Region;

/**
 * All-gather by recursive doubling, with {@code log2 p} steps and {@code n(p-1)/p} bytes, where n is the size of the
 * full result. A rank exchanges all chunks that it has with the rank at distance 1, 2, 4 and so on.
 *
 * <p>Ranks above the largest power of two first send their chunk to a partner and at the end receive the full result.
 * After the first step the block of the partner has a second range of chunks, above that power of two. Source: Thakur,
 * Rabenseifner and Gropp 2005, doi:10.1177/1094342005051521.
 */
final class RecursiveDoublingAllGather {
    private RecursiveDoublingAllGather() {}

    static Plan plan(int rank, int size) {
        int core = Integer.highestOneBit(size);
        PlanBuilder plan =
                new PlanBuilder("recursiveDoubling", size).in(Extent.only(rank)).out(Extent.all(size));
        plan.copy(Region.IN, Region.OUT, rank, 1);
        if (rank >= core) {
            return plan.send(rank - core, Region.OUT, rank, 1)
                    .receive(rank - core, Region.OUT, 0, size)
                    .build();
        }
        if (rank + core < size) {
            plan.receive(rank + core, Region.OUT, rank + core, 1);
        }
        for (int distance = 1; distance < core; distance *= 2) {
            int peer = rank ^ distance;
            Extent own = extras(rank, distance, size);
            Extent theirs = extras(peer, distance, size);
            plan.send(peer, Region.OUT, block(rank, distance), distance);
            plan.receive(peer, Region.OUT, block(peer, distance), distance);
            if (own.count() > 0) {
                plan.send(peer, Region.OUT, own.first(), own.count());
            }
            if (theirs.count() > 0) {
                plan.receive(peer, Region.OUT, theirs.first(), theirs.count());
            }
        }
        if (rank + core < size) {
            plan.send(rank + core, Region.OUT, 0, size);
        }
        return plan.build();
    }

    /** Returns the first chunk of the aligned block of {@code length} chunks that contains the chunk of a rank. */
    private static int block(int rank, int length) {
        return rank / length * length;
    }

    /** Returns the chunks that the ranks of a block received from their extra ranks. */
    private static Extent extras(int rank, int length, int size) {
        int first = Integer.highestOneBit(size) + block(rank, length);
        return first < size ? new Extent(first, Math.min(length, size - first)) : Extent.NONE;
    }
}
