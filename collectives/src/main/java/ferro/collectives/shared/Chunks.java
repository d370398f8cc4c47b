package ferro.collectives.shared;

/**
 * The chunks into which a run of elements is cut. All elements of a chunk are staged at once. A chunk may have pieces
 * of the same length for several ranks.
 *
 * @param elements number of elements of the run
 * @param unit     size of an element in bytes
 * @param length   number of elements of a chunk; the last chunk may be shorter
 * @param room     where the whole run is: {@link SharedMemoryProgram#LINE} or {@link SharedMemoryProgram#SMALL}; 0 if the run is in slots
 */
record Chunks(long elements, int unit, int length, int room) {
    /**
     * Some elements of a chunk.
     *
     * @param chunk index of the chunk, or {@link SharedMemoryProgram#LINE}
     * @param at    first byte in the chunk
     * @param count number of elements
     */
    record ChunkPart(int chunk, int at, int count) {}

    /**
     * Cuts a run into chunks.
     *
     * @param elements   number of elements of the run
     * @param unit       size of an element in bytes
     * @param pieces     number of pieces, one per rank, that are side by side in a chunk
     * @param chunkBytes maximum size of all pieces of a chunk together, in bytes
     * @throws IllegalArgumentException if a chunk has no space for a cache line of each piece
     */
    static Chunks of(long elements, int unit, int pieces, int chunkBytes) {
        int room = room(elements * unit, pieces, chunkBytes);
        int pieceBytes = chunkBytes / pieces / ProgramCall.ALIGNMENT * ProgramCall.ALIGNMENT;
        if (pieceBytes < unit && room == 0) {
            throw new IllegalArgumentException("chunks of " + chunkBytes + " bytes have no room for the pieces of "
                    + pieces + " ranks: need lines of " + ProgramCall.ALIGNMENT + " bytes for each");
        }
        return new Chunks(elements, unit, (int) Math.max(1, Math.min(elements, pieceBytes / unit)), room);
    }

    private static int room(long bytes, int pieces, int chunkBytes) {
        if (bytes * pieces <= SegmentLayout.LINE_PAYLOAD_BYTES) {
            return SharedMemoryProgram.LINE;
        }
        int most = Math.min(chunkBytes, SegmentLayout.SMALL_BYTES);
        return ProgramCall.roundUp(bytes) * pieces <= most ? SharedMemoryProgram.SMALL : 0;
    }

    /** Returns the same chunks, all of them in slots. */
    Chunks inSlots() {
        return new Chunks(elements, unit, length, 0);
    }

    /** Returns the number of chunks. An empty run has one empty chunk. */
    int count() {
        return (int) Math.max(1, (elements + length - 1) / length);
    }

    /** Returns whether no data is beside the header, so that the header has space for the locations of operands. */
    boolean areInSlots() {
        return room == 0;
    }

    /** Returns the number of slots that are used, one after the other. */
    int slots() {
        return areInSlots() ? count() : 0;
    }

    long start(int index) {
        return (long) index * length;
    }

    int length(int index) {
        return (int) Math.min(length, elements - start(index));
    }

    /** Returns where a piece of a chunk is staged. */
    ChunkPart piece(int index, int piece) {
        int stride = room == SharedMemoryProgram.LINE
                ? length(index) * unit
                : (int) ProgramCall.roundUp((long) length * unit);
        return new ChunkPart(room == 0 ? index : room, piece * stride, length(index));
    }
}
