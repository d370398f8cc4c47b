package ferro.spi;

/**
 * How large the segments of the ranks of a host are, and which part of them takes memory only when it is needed.
 *
 * @param bytes     of each segment
 * @param laterFrom first byte of the part that {@link SharedMemory#reserve} asks for later
 * @param laterTo   first byte behind that part
 * @param ranks     how many ranks of the host make such segments
 */
public record SegmentSize(long bytes, long laterFrom, long laterTo, int ranks) {
    /**
     * Checks the part.
     *
     * @param bytes     of each segment
     * @param laterFrom first byte of the part that is reserved later
     * @param laterTo   first byte behind that part
     * @param ranks     how many ranks of the host make such segments
     * @throws IllegalArgumentException if the part is not inside the segment, or there are no ranks
     */
    public SegmentSize {
        if (laterFrom < 0 || laterTo < laterFrom || bytes < laterTo || ranks < 1) {
            throw new IllegalArgumentException("a segment of " + bytes + " bytes, " + laterFrom + " to " + laterTo
                    + " of them later, for " + ranks + " ranks: need a part inside, and a rank");
        }
    }

    /**
     * Returns the size of segments that take all their memory when they are made.
     *
     * @param bytes of each segment
     * @return size, for one rank of the host
     */
    public static SegmentSize now(long bytes) {
        return new SegmentSize(bytes, bytes, bytes, 1);
    }

    /**
     * Returns how much of a segment takes memory only when it is needed.
     *
     * @return bytes
     */
    public long later() {
        return laterTo - laterFrom;
    }
}
