package ferro.spi;

import java.util.List;

/**
 * The size of the shared-memory segments of the ranks on one host. A part of each segment takes memory only when it is
 * needed.
 */
public final class SegmentSize {
    private final long bytes;
    private final long laterFrom;
    private final long laterTo;
    private final int ranks;

    private SegmentSize(long bytes, long laterFrom, long laterTo, int ranks) {
        if (laterFrom < 0 || laterTo < laterFrom || bytes < laterTo || ranks < 1) {
            throw new IllegalArgumentException("a segment of " + bytes + " bytes that reserves bytes " + laterFrom
                    + " to " + laterTo + " later, for " + ranks
                    + " ranks: need a range inside the segment, and at least one rank");
        }
        this.bytes = bytes;
        this.laterFrom = laterFrom;
        this.laterTo = laterTo;
        this.ranks = ranks;
    }

    /** {@return the size of each segment in bytes} */
    public long bytes() {
        return bytes;
    }

    /** {@return the first byte of the part that {@link SharedMemory#reserve} reserves later} */
    public long laterFrom() {
        return laterFrom;
    }

    /** {@return the first byte after the part that is reserved later} */
    public long laterTo() {
        return laterTo;
    }

    /** {@return the number of ranks of the host that create such segments} */
    public int ranks() {
        return ranks;
    }

    /**
     * Returns the size of segments that take all their memory when they are created.
     *
     * @param bytes size of each segment in bytes
     * @return size for one rank of the host
     */
    public static SegmentSize now(long bytes) {
        return new SegmentSize(bytes, bytes, bytes, 1);
    }

    /**
     * Returns the same size with a part that takes memory only when {@link SharedMemory#reserve} reserves it.
     *
     * @param from first byte of the part
     * @param to   first byte after the part
     * @return size
     * @throws IllegalArgumentException if the part is not inside the segment
     */
    public SegmentSize withLater(long from, long to) {
        return new SegmentSize(bytes, from, to, ranks);
    }

    /**
     * Returns the same size for another number of ranks.
     *
     * @param count number of ranks of the host that create such segments
     * @return size
     * @throws IllegalArgumentException if the count is less than 1
     */
    public SegmentSize withRanks(int count) {
        return new SegmentSize(bytes, laterFrom, laterTo, count);
    }

    /** {@return the bytes of a segment that take memory only when they are needed} */
    public long later() {
        return laterTo - laterFrom;
    }

    @Override
    public String toString() {
        return "SegmentSize[bytes=" + bytes + ", laterFrom=" + laterFrom + ", laterTo=" + laterTo + ", ranks=" + ranks
                + "]";
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof SegmentSize that && values().equals(that.values());
    }

    @Override
    public int hashCode() {
        return values().hashCode();
    }

    private List<Object> values() {
        return List.of(bytes, laterFrom, laterTo, ranks);
    }
}
