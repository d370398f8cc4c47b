package ferro.collectives.shared;

import ferro.CollectiveKind;

/**
 * The call that a program is made for.
 *
 * @param kind      kind of the call, as {@link ferro.Collective#kind}
 * @param rank      this rank
 * @param worldSize number of ranks, all of which share memory
 * @param root      root rank, or 0
 * @param elements  number of elements of the whole operation, with the parts of all ranks
 * @param unit      size of an element in bytes
 * @param record    number of elements of the tensors per element of this call: 1, or the number of elements of a record
 *     that is combined as a whole
 */
public record ProgramCall(CollectiveKind kind, int rank, int worldSize, int root, long elements, int unit, int record) {
    /** Alignment in bytes of the data of a rank in a slot, so that no two ranks write the same cache line. */
    static final int ALIGNMENT = 64;

    /**
     * Maximum number of steps of a program. A step takes about 40 bytes, so even the longest program is much smaller
     * than the caller's data.
     */
    static final int STEPS_MOST = 1 << 19;

    /** Number of steps of a piece, which are copy in, combine, wait and copy out. */
    private static final int STEPS_OF_PIECE = 4;

    private static final int KIB = 1024;

    /**
     * Size of an operation from which more than two ranks stage four times as many bytes at once. Each rank waits for
     * all other ranks once per chunk. If ranks share cores, a wait for other ranks costs a time slice of the scheduler
     * (4 ranks on 2 cores: 4 MiB in 2.1 ms instead of 2.9, 64 MiB in 23 instead of 32).
     */
    private static final long CROWD_BYTES_LEAST = 2L * KIB * KIB;

    /**
     * Returns the same call counted in records.
     *
     * @param elementsOfRecord number of elements that are combined together
     * @return call with one element for each record
     */
    public ProgramCall inRecords(int elementsOfRecord) {
        return new ProgramCall(
                kind, rank, worldSize, root, elements / elementsOfRecord, unit * elementsOfRecord, elementsOfRecord);
    }

    /**
     * Returns the number of bytes that are staged at once, which decides how long the program is. The choice depends
     * only on values that are equal on every rank. The sizes are measured (docs/performance).
     *
     * @param slotBytes maximum number of bytes that are staged at once
     */
    public int chunkBytes(int slotBytes) {
        boolean isOfCrowd = worldSize > 2 && bytes() >= CROWD_BYTES_LEAST;
        boolean isMiddle = bytes() >= 8 * KIB * KIB && bytes() < 32 * KIB * KIB;
        return Math.min(slotBytes, (isOfCrowd || isMiddle ? 1024 : 256) * KIB);
    }

    /**
     * Returns whether the program is short enough to be made, and whether each rank's piece has space for an element.
     * The result is the same on all ranks.
     *
     * @param slotBytes maximum number of bytes that are staged at once
     * @return false for very long operations of very many ranks, and for long records. An operation without
     *     a short program uses links, where plans do not grow with the operation, and elements may have any length
     */
    public boolean hasShortProgram(int slotBytes) {
        int chunkBytes = chunkBytes(slotBytes);
        long chunks = bytes() / chunkBytes + 1;
        return chunks * worldSize * STEPS_OF_PIECE <= STEPS_MOST
                && (record == 1 || chunkBytes / worldSize / ALIGNMENT * ALIGNMENT >= unit);
    }

    /** Returns the number of elements in a cache line; 1 for elements that are longer than a cache line. */
    int elementsOfLine() {
        return Math.max(1, ALIGNMENT / unit);
    }

    long bytes() {
        return elements * unit;
    }

    /** Returns the number of elements of the shortest part. Parts are equal in operations with a part for each rank. */
    long part() {
        return elements / worldSize;
    }

    /** Returns the first element of a rank's part. The first parts are one element longer if parts cannot be equal. */
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

    /** Returns the rank that is {@code places} ranks after this rank, modulo the world size. */
    int behind(int places) {
        return (rank + places) % worldSize;
    }

    static long roundUp(long bytes) {
        return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
}
