package ferro.collectives.shared;

/**
 * Chooses how much of an operation is staged at once, which decides how long its program is. The choice depends only on
 * what is equal on every rank.
 */
public final class ChunkSizes {
    private static final int KIB = 1024;

    /**
     * From this size more than two ranks stage four times as much at once. Each rank waits for all others once a chunk,
     * and where ranks share cores such a wait costs a turn of the scheduler (4 ranks on 2 cores: 4 MiB in 2.1 ms instead
     * of 2.9, 64 MiB in 23 instead of 32).
     */
    private static final long CROWD_BYTES_LEAST = 2L * KIB * KIB;

    /**
     * Most steps of a program. A step takes some 40 bytes, so that a program of this many stays well below the size of
     * the caller's data.
     */
    static final int STEPS_MOST = 1 << 19;

    /** Steps of a piece: copy in, combine, wait and copy out. */
    private static final int STEPS_OF_PIECE = 4;

    private ChunkSizes() {}

    /**
     * Returns whether the program of an operation is short enough to be made, and the pieces of all ranks have room for
     * an element; the same on all ranks.
     *
     * @param call   operation
     * @param layout layout of the segments
     * @return false for very long operations of very many ranks, and for long records; over links, plans do not grow with
     *     the operation, and elements may have any length
     */
    public static boolean isShort(SharedCall call, SegmentLayout layout) {
        long chunks = call.bytes() / of(call, layout.slotBytes()) + 1;
        int piece = of(call, layout.slotBytes()) / call.worldSize() / SharedCall.ALIGNMENT * SharedCall.ALIGNMENT;
        return chunks * call.worldSize() * STEPS_OF_PIECE <= STEPS_MOST && (call.record() == 1 || piece >= call.unit());
    }

    /**
     * Returns how much is staged at once. The sizes are measured: see docs/performance.
     *
     * @param call      operation
     * @param slotBytes most bytes that are staged at once
     * @return bytes
     */
    public static int of(SharedCall call, int slotBytes) {
        return Math.min(slotBytes, wanted(call));
    }

    private static int wanted(SharedCall call) {
        long bytes = call.bytes();
        if (call.worldSize() > 2 && bytes >= CROWD_BYTES_LEAST) {
            return KIB * KIB;
        }
        if (bytes >= 8 * KIB * KIB && bytes < 32 * KIB * KIB) {
            return KIB * KIB;
        }
        return 256 * KIB;
    }
}
