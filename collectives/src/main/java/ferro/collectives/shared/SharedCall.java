package ferro.collectives.shared;

import ferro.CollectiveKind;

/**
 * What a program is made for.
 *
 * @param kind      as {@link ferro.Collective#kind}
 * @param rank      this rank
 * @param worldSize ranks, all of which share memory
 * @param root      root, or 0
 * @param elements  of the whole operation, the parts of all ranks together
 * @param unit      bytes of one
 */
public record SharedCall(CollectiveKind kind, int rank, int worldSize, int root, long elements, int unit) {
    /** Data of a rank begins at a multiple of this in a slot, so that no two ranks write one line. */
    static final int ALIGNMENT = 64;

    long bytes() {
        return elements * unit;
    }

    /** Returns the elements of one rank's part, where the operation has a part for each. */
    long part() {
        return elements / worldSize;
    }

    boolean isRoot() {
        return rank == root;
    }

    /** Returns the rank that is some places behind this one. */
    int behind(int places) {
        return (rank + places) % worldSize;
    }

    static long roundUp(long bytes) {
        return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
}
