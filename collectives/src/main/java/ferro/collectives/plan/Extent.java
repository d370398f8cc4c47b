package ferro.collectives.plan;

/**
 * Which chunks a region holds: {@code count} of them, from chunk {@code first}, which lies at the region's first
 * element.
 *
 * @param first first chunk held
 * @param count chunks held, 0 for an absent region
 */
public record Extent(int first, int count) {
    /** A region that a plan does not use. */
    public static final Extent NONE = new Extent(0, 0);

    /**
     * Checks the numbers.
     *
     * @param first first chunk held
     * @param count chunks held
     * @throws IllegalArgumentException if one is negative
     */
    public Extent {
        if (first < 0 || count < 0) {
            throw new IllegalArgumentException("extent of " + count + " chunks from " + first + " is negative");
        }
    }

    /**
     * Returns an extent from chunk 0.
     *
     * @param count chunks held
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
     * Returns whether chunks lie inside.
     *
     * @param chunk  first one
     * @param chunks how many
     * @return true if all of them are held
     */
    public boolean holds(int chunk, int chunks) {
        return chunk >= first && chunk + chunks <= first + count;
    }
}
