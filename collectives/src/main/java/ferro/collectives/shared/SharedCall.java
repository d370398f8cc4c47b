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
 * @param record    elements of the tensors that one element here stands for: 1, or those of a record that is combined as
 *     a whole
 */
public record SharedCall(CollectiveKind kind, int rank, int worldSize, int root, long elements, int unit, int record) {
    /** In a slot the data of a rank begins at a multiple of this, so that no two ranks write one line. */
    static final int ALIGNMENT = 64;

    /**
     * Returns the same call counted in records.
     *
     * @param elementsOfRecord elements that are combined together
     * @return call with one element for each record
     */
    public SharedCall inRecords(int elementsOfRecord) {
        return new SharedCall(
                kind, rank, worldSize, root, elements / elementsOfRecord, unit * elementsOfRecord, elementsOfRecord);
    }

    /** Returns how many elements a line has; 1 for elements that are longer than a line. */
    int elementsOfLine() {
        return Math.max(1, ALIGNMENT / unit);
    }

    long bytes() {
        return elements * unit;
    }

    /** Returns the elements of the shortest part of a rank; all have so many in operations with a part for each rank. */
    long part() {
        return elements / worldSize;
    }

    /** Returns the first element of the part of a rank; the first parts are one longer if they cannot all be equal. */
    long partStart(int rank) {
        return rank * part() + Math.min(rank, elements % worldSize);
    }

    long partLength(int rank) {
        return partStart(rank + 1) - partStart(rank);
    }

    /** Returns whether operands and results are short enough for one buffer each. */
    boolean fitsInBuffers() {
        return bytes() <= Integer.MAX_VALUE;
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
