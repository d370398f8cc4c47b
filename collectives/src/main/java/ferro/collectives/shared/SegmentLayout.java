package ferro.collectives.shared;

import ferro.collectives.link.WireHeader;

/**
 * The layout of each rank's segment; the same on all ranks of a group.
 *
 * <p>First come two header lines, used alternately: an operation's {@link WireHeader}, and up to
 * {@link #LINE_PAYLOAD_BYTES} of data beside it. Then comes the line of the flag that counts what the rank has published.
 * Then come the slots in which data is staged. The bytes from {@link #end} on are for links.
 *
 * @param slotBytes size of a slot, a multiple of 4096
 */
public record SegmentLayout(int slotBytes) {
    /** With three slots a rank copies into one while others still read the two before: see {@link ProgramBuilder}. */
    public static final int SLOTS = 3;

    /** Bytes that fit beside a header in a line of 64 bytes. */
    public static final int LINE_PAYLOAD_BYTES = 64 - WireHeader.BYTES;

    private static final int SLOT_BYTES_MOST = 1 << 20;
    private static final int PAGE = 4096;

    /**
     * Returns the layout with the largest slots that a segment has room for.
     *
     * @param bytes bytes of the segment, without the rings of links
     * @return layout
     * @throws IllegalArgumentException if there is no room for a page per slot
     */
    public static SegmentLayout within(long bytes) {
        long share = (bytes - PAGE) / SLOTS;
        if (share < PAGE) {
            throw new IllegalArgumentException(
                    "an area of " + bytes + " bytes has no room for " + SLOTS + " slots: need " + (1 + SLOTS) * PAGE);
        }
        return new SegmentLayout((int) Math.min(SLOT_BYTES_MOST, Long.highestOneBit(share)));
    }

    /**
     * Returns how many ranks the slots serve. A chunk may have a piece of each rank, in lines of its own.
     *
     * @return most ranks
     */
    public int ranksMost() {
        return slotBytes / SharedCall.ALIGNMENT;
    }

    /** Returns the header line of an operation; the parity is that of the operation's number in the group. */
    static int header(int parity) {
        return parity * ProgressWords.LINE_BYTES;
    }

    /** Returns where the data of a header line begins. */
    static int payload(int parity) {
        return header(parity) + WireHeader.BYTES;
    }

    /** Returns where a header holds the number of the shared memory that the tensor lies in; 0 for none. */
    static int tensor(int parity) {
        return payload(parity);
    }

    /** Returns where a header holds the first byte of the tensor in that memory. */
    static int tensorStart(int parity) {
        return payload(parity) + Long.BYTES;
    }

    /** Returns where the flag lies. */
    static int flag() {
        return 2 * ProgressWords.LINE_BYTES;
    }

    int slot(int index) {
        return PAGE + index * slotBytes;
    }

    /**
     * Returns the first byte behind this layout.
     *
     * @return offset in the segment, a multiple of 4096
     */
    public int end() {
        return slot(SLOTS);
    }
}
