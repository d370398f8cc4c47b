package ferro.collectives.plan;

/**
 * The range of chunks that a region has: {@code count} chunks from chunk {@code first}. Chunk {@code first} begins at
 * the first element of the region.
 *
 * @param first first chunk of the region
 * @param count number of chunks, 0 if the region is absent
 */
public record Extent(int first, int count) {
    /** A region that a plan does not use. */
    public static final Extent NONE = new Extent(0, 0);

    /**
     * Checks the numbers.
     *
     * @param first first chunk of the region
     * @param count number of chunks
     * @throws IllegalArgumentException if a number is negative
     */
    public Extent {
        if (first < 0 || count < 0) {
            throw new IllegalArgumentException("extent of " + count + " chunks from " + first + " is negative");
        }
    }

    /**
     * Returns an extent from chunk 0.
     *
     * @param count number of chunks
     * @return extent
     */
    public static Extent all(int count) {
        return new Extent(0, count);
    }

    /**
     * Returns an extent of one chunk.
     *
     * @param chunk the chunk
     * @return extent
     */
    public static Extent only(int chunk) {
        return new Extent(chunk, 1);
    }

    /**
     * Returns whether this extent contains a range of chunks.
     *
     * @param chunk  first chunk of the range
     * @param chunks number of chunks in the range
     * @return true if it contains all chunks of the range
     */
    public boolean holds(int chunk, int chunks) {
        return chunk >= first && chunk + chunks <= first + count;
    }
}
