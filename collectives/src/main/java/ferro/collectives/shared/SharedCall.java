package ferro.collectives.shared;

import ferro.CollectiveKind;

/**
 * The call that a program is made for.
 *
 * @param kind      as {@link ferro.Collective#kind}
 * @param rank      this rank
 * @param worldSize ranks, all of which share memory
 * @param root      root, or 0
 * @param elements  elements of the whole operation, the parts of all ranks together
 * @param unit      bytes of an element
 */
public record SharedCall(CollectiveKind kind, int rank, int worldSize, int root, long elements, int unit) {
    /** In a slot the data of a rank begins at a multiple of this, so that no two ranks write one line. */
    static final int ALIGNMENT = 64;

    long bytes() {
        return elements * unit;
    }

    /** Returns the elements of one rank's part, for operations with a part for each rank. */
    long part() {
        return elements / worldSize;
    }

    boolean isRoot() {
        return rank == root;
    }

    /** Returns the rank a number of places after this one, modulo the world size. */
    int behind(int places) {
        return (rank + places) % worldSize;
    }

    static long roundUp(long bytes) {
        return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
}
