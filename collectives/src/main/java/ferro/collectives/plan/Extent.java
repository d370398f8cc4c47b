package ferro.collectives.plan;

/**
 * The range of chunks that a region has: {@code count} chunks from chunk {@code first}, which begins at the first
 * element of the region. The count is 0 if the region is absent.
 */
public record Extent(int first, int count) {
    /** A region that a plan does not use. */
    public static final Extent NONE = new Extent(0, 0);

    /** Refuses negative numbers. */
    public Extent {
        if (first < 0 || count < 0) {
            throw new IllegalArgumentException("extent of " + count + " chunks from " + first + " is negative");
        }
    }

    static Extent all(int count) {
        return new Extent(0, count);
    }

    static Extent only(int chunk) {
        return new Extent(chunk, 1);
    }

    boolean holds(int chunk, int chunks) {
        return chunk >= first && chunk + chunks <= first + count;
    }
}
