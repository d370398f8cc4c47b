package ferro.spi;

/**
 * The size of the shared-memory segments of the ranks on one host. A part of each segment takes memory only when that
 * part is needed.
 */
public final class SegmentSize {
    private final Size size;

    private record Size(long bytes, long laterFrom, long laterTo, int ranks) {}

    private SegmentSize(long bytes, long laterFrom, long laterTo, int ranks) {
        if (laterFrom < 0 || laterTo < laterFrom || bytes < laterTo || ranks < 1) {
            throw new IllegalArgumentException("a segment of " + bytes + " bytes that reserves bytes " + laterFrom
                    + " to " + laterTo + " later, for " + ranks
                    + " ranks: need a range inside the segment, and at least one rank");
        }
        size = new Size(bytes, laterFrom, laterTo, ranks);
    }

    /** {@return the size of each segment in bytes} */
    public long bytes() {
        return size.bytes;
    }

    /** {@return the first byte of the part that {@link SharedMemory#reserve} reserves later} */
    public long laterFrom() {
        return size.laterFrom;
    }

    /** {@return the first byte after the part that is reserved later} */
    public long laterTo() {
        return size.laterTo;
    }

    /** {@return the number of ranks of the host that create a segment of this size} */
    public int ranks() {
        return size.ranks;
    }

    /**
     * Returns the size of a segment that takes all its memory when it is created.
     *
     * @param bytes size of each segment in bytes
     * @return size for one rank of the host
     */
    public static SegmentSize now(long bytes) {
        return new SegmentSize(bytes, bytes, bytes, 1);
    }

    /**
     * Returns a copy of this size with a part that takes memory only when {@link SharedMemory#reserve} reserves it.
     *
     * @param from first byte of the part
     * @param to   first byte after the part
     * @return size
     * @throws IllegalArgumentException if the part is not inside the segment
     */
    public SegmentSize withLater(long from, long to) {
        return new SegmentSize(size.bytes, from, to, size.ranks);
    }

    /**
     * Returns a copy of this size for another number of ranks.
     *
     * @param count number of ranks of the host that create a segment of this size
     * @return size
     * @throws IllegalArgumentException if the count is less than 1
     */
    public SegmentSize withRanks(int count) {
        return new SegmentSize(size.bytes, size.laterFrom, size.laterTo, count);
    }

    /** {@return the size in bytes of the part that is reserved later} */
    public long later() {
        return size.laterTo - size.laterFrom;
    }

    @Override
    public String toString() {
        return "Segment" + size;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof SegmentSize that && size.equals(that.size);
    }

    @Override
    public int hashCode() {
        return size.hashCode();
    }
}
