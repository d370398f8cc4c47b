package ferro.collectives.plan;

/**
 * The range of chunks that a region has: {@code count} chunks from chunk {@code first}, which begins at the first
 * element of the region. The count is 0 if the region is absent.
 */
public record ChunkExtent(int first, int count) {
    /** The extent of a region that a plan does not use. */
    public static final ChunkExtent NONE = new ChunkExtent(0, 0);

    /** Refuses negative numbers. */
    public ChunkExtent {
        if (first < 0 || count < 0) {
            throw new IllegalArgumentException("extent of " + count + " chunks from " + first + " is negative");
        }
    }

    static ChunkExtent all(int count) {
        return new ChunkExtent(0, count);
    }

    static ChunkExtent only(int chunk) {
        return new ChunkExtent(chunk, 1);
    }

    boolean holds(int chunk, int chunks) {
        return chunk >= first && chunk + chunks <= first + count;
    }
}
