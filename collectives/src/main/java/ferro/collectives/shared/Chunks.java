package ferro.collectives.shared;

import ferro.collectives.shared.ProgramBuilder.Part;

/**
 * How a run of elements is cut into chunks, each of which is staged at once, together with as long a piece for each of
 * some ranks.
 *
 * @param elements of the run
 * @param unit     bytes of one
 * @param length   elements of a chunk; the last one may be shorter
 * @param inLine   whether all of it lies beside the header
 */
record Chunks(long elements, int unit, int length, boolean inLine) {
    /**
     * Cuts.
     *
     * @param elements   of the run
     * @param unit       bytes of one
     * @param pieces     how many ranks' pieces lie side by side in a chunk
     * @param chunkBytes of all pieces of a chunk together, at most
     * @throws IllegalArgumentException if it has no room for a line of each piece
     */
    static Chunks of(long elements, int unit, int pieces, int chunkBytes) {
        boolean inLine = elements * pieces * unit <= AreaLayout.LINE_PAYLOAD_BYTES;
        int pieceBytes = chunkBytes / pieces / SharedCall.ALIGNMENT * SharedCall.ALIGNMENT;
        if (pieceBytes < unit && !inLine) {
            throw new IllegalArgumentException("chunks of " + chunkBytes + " bytes have no room for the pieces of "
                    + pieces + " ranks: need lines of " + SharedCall.ALIGNMENT + " bytes for each");
        }
        return new Chunks(elements, unit, (int) Math.max(1, Math.min(elements, pieceBytes / unit)), inLine);
    }

    /** Returns the same chunks, none of them beside the header. */
    Chunks inSlots() {
        return new Chunks(elements, unit, length, false);
    }

    /** Returns how many there are; nothing is one empty chunk. */
    int count() {
        return (int) Math.max(1, (elements + length - 1) / length);
    }

    /** Returns how many slots are used, one after the other. */
    int slots() {
        return inLine ? 0 : count();
    }

    long start(int index) {
        return (long) index * length;
    }

    int length(int index) {
        return (int) Math.min(length, elements - start(index));
    }

    /** Returns where one of the pieces of a chunk is staged. */
    Part piece(int index, int piece) {
        int stride = inLine ? length(index) * unit : (int) SharedCall.roundUp((long) length * unit);
        return new Part(inLine ? Program.LINE : index, piece * stride, length(index));
    }
}
