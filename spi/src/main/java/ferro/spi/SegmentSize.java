package ferro.spi;

/**
 * The size of the shared-memory segments of the ranks on one host. A part of each segment takes memory only when it is
 * needed.
 *
 * @param bytes     size of each segment in bytes
 * @param laterFrom first byte of the part that {@link SharedMemory#reserve} reserves later
 * @param laterTo   first byte after that part
 * @param ranks     number of ranks of the host that create such segments
 */
public record SegmentSize(long bytes, long laterFrom, long laterTo, int ranks) {
    /**
     * Checks that the part is inside the segment.
     *
     * @param bytes     size of each segment in bytes
     * @param laterFrom first byte of the part that is reserved later
     * @param laterTo   first byte after that part
     * @param ranks     number of ranks of the host that create such segments
     * @throws IllegalArgumentException if the part is not inside the segment, or there are no ranks
     */
    public SegmentSize {
        if (laterFrom < 0 || laterTo < laterFrom || bytes < laterTo || ranks < 1) {
            throw new IllegalArgumentException("a segment of " + bytes + " bytes that reserves bytes " + laterFrom
                    + " to " + laterTo + " later, for " + ranks
                    + " ranks: need a range inside the segment, and at least one rank");
        }
    }

    /**
     * Returns the size of segments that take all their memory when they are created.
     *
     * @param bytes size of each segment in bytes
     * @return size, for one rank of the host
     */
    public static SegmentSize now(long bytes) {
        return new SegmentSize(bytes, bytes, bytes, 1);
    }

    /**
     * Returns the size of the part of a segment that takes memory only when it is needed.
     *
     * @return size in bytes
     */
    public long later() {
        return laterTo - laterFrom;
    }
}
