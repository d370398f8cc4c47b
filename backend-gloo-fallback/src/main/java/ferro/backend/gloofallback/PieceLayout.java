package ferro.backend.gloofallback;

import ferro.Collective;
import ferro.CollectiveKind;
import ferro.spi.RankContext;
import ferro.spi.Settings;

/**
 * The pieces of a call. The pieces are the same on all ranks, because they depend only on values that are equal on all
 * ranks.
 *
 * <p>A piece has the same run of elements of every part of the call. For example, a part of an all-gather is the data
 * of one rank. Therefore each piece is a smaller call of the same kind.
 *
 * @param partElements  elements of a part; for a call without parts, all elements
 * @param parts         number of parts that a piece has in staging memory
 * @param pieceElements elements of a part in each piece except the last
 */
record PieceLayout(long partElements, int parts, long pieceElements) {
    /** Maximum bytes of a piece, which is also the size of the engine's scratch memory. */
    private static final long PIECE_BYTES_MOST = 32L << 20;

    static PieceLayout of(Collective call, int worldSize, RankContext context) {
        long chunk = Math.max(1, Math.min(Settings.FALLBACK_CHUNK.of(context), PIECE_BYTES_MOST));
        long elements = call.operand().elementCount();
        boolean exchanges = call.kind() == CollectiveKind.ALL_TO_ALL;
        long partElements = exchanges ? elements / worldSize : elements;
        // includes parts that this rank does not keep, because the cut must not depend on the rank
        int parts = exchanges ? 2 * worldSize : call.kind().hasParts() ? worldSize : 1;
        long room = chunk / call.operand().dataType().byteSize() / parts;
        // an empty tensor is one empty piece, which keeps its position in the order of calls
        return new PieceLayout(partElements, parts, Math.max(1, Math.min(room, Math.max(1, partElements))));
    }

    long pieces() {
        return Math.max(1, (partElements + pieceElements - 1) / pieceElements);
    }

    /** Returns the index, within a part, of the first element of a piece. */
    long from(long piece) {
        return piece * pieceElements;
    }

    /** Returns how many elements of a part a piece has. */
    int length(long piece) {
        return (int) Math.min(pieceElements, partElements - from(piece));
    }
}
