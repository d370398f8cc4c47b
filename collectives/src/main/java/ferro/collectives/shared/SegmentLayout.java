package ferro.collectives.shared;

import ferro.collectives.link.WireHeader;

/**
 * The layout of each rank's segment; the same on all ranks of a group.
 *
 * <p>First come {@link #HEADERS} header lines, used in turn: an operation's {@link WireHeader}, and up to
 * {@link #LINE_PAYLOAD_BYTES} of data beside it. Then comes the line of the flag that counts what the rank has published;
 * beside the flag stands the number of the operation that has failed on the rank. Then comes, for each header line, room for
 * up to {@link #SMALL_BYTES} of data. Then come the slots in which larger data is staged. The bytes from {@link #end} on are
 * for links.
 *
 * @param slotBytes size of a slot, a multiple of 4096
 */
public record SegmentLayout(int slotBytes) {
    /** With three slots a rank copies into one while others still read the two before: see {@link ProgramBuilder}. */
    public static final int SLOTS = 3;

    /**
     * Header lines of a rank, a power of two: it may end all but one of so many operations of little data before another rank
     * enters the first of them.
     */
    public static final int HEADERS = 16;

    /** Most bytes of an operation whose data has room of its own beside each header. */
    public static final int SMALL_BYTES = 4096;

    /** Bytes that fit beside a header in a line of 64 bytes. */
    public static final int LINE_PAYLOAD_BYTES = 64 - WireHeader.BYTES;

    private static final int SLOT_BYTES_MOST = 1 << 20;
    private static final int PAGE = 4096;
    /** Bytes before the slots. */
    public static final int FIRST_SLOT = PAGE + HEADERS * SMALL_BYTES;

    /**
     * Returns the layout with the largest slots that a segment has room for.
     *
     * @param bytes bytes of the segment, without the rings of links
     * @return layout
     * @throws IllegalArgumentException if there is no room for a page per slot
     */
    public static SegmentLayout within(long bytes) {
        long share = (bytes - FIRST_SLOT) / SLOTS;
        if (share < PAGE) {
            throw new IllegalArgumentException("an area of " + bytes + " bytes has no room for " + SLOTS
                    + " slots: need " + (FIRST_SLOT + SLOTS * PAGE));
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

    /** Returns the header line of an operation of the group. */
    static int header(long operation) {
        return line(operation) * ProgressWords.LINE_BYTES;
    }

    /** Returns which of the header lines is that of an operation. */
    static int line(long operation) {
        return (int) operation & HEADERS - 1;
    }

    /** Returns where the data of a header line begins. */
    static int payload(long operation) {
        return header(operation) + WireHeader.BYTES;
    }

    /** Returns where the room for little data of an operation begins. */
    static int small(long operation) {
        return PAGE + line(operation) * SMALL_BYTES;
    }

    /** Returns where a header holds the number of the shared memory that the operand lies in; 0 for none. */
    static int operand(long operation) {
        return payload(operation);
    }

    /** Returns where a header holds the first byte of the operand in that memory. */
    static int operandStart(long operation) {
        return operand(operation) + Long.BYTES;
    }

    /** Returns where a header holds the number of the shared memory that the result lies in; 0 for none. */
    static int result(long operation) {
        return operandStart(operation) + Long.BYTES;
    }

    /** Returns where a header holds the first byte of the result in that memory. */
    static int resultStart(long operation) {
        return result(operation) + Long.BYTES;
    }

    /** Returns where the flag lies. */
    static int flag() {
        return HEADERS * ProgressWords.LINE_BYTES;
    }

    /** Returns where the number of the operation lies that has failed on the rank, from 1; 0 for none. */
    static int abandoned() {
        return flag() + Long.BYTES;
    }

    /**
     * Returns how much of a slot to reserve for data of some length: little more than that, and always more than before,
     * so that lengths that grow do not reserve each time.
     */
    int reserved(int bytes) {
        return Math.min(slotBytes, Math.max(PAGE, Integer.highestOneBit(Math.max(1, bytes - 1)) << 1));
    }

    /**
     * Returns where a slot begins.
     *
     * @param index which slot
     * @return offset in the segment, a multiple of 4096
     */
    public int slot(int index) {
        return FIRST_SLOT + index * slotBytes;
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
