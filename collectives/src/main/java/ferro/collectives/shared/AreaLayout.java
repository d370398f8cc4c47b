package ferro.collectives.shared;

import ferro.collectives.link.WireHeader;

/**
 * Where things lie in the area of each rank; the same on all ranks of a group.
 *
 * <p>First two header lines, used in turn: an operation's {@link WireHeader}, and up to {@link #LINE_PAYLOAD_BYTES} of
 * data beside it. Then the line of the flag that counts what the rank has published. Then the slots that data is staged
 * in. What comes behind {@link #end} is for links.
 *
 * @param slotBytes size of a slot, a multiple of 4096
 */
public record AreaLayout(int slotBytes) {
    /** With three slots a rank copies into one while others still read the two before: see {@link ProgramBuilder}. */
    public static final int SLOTS = 3;

    /** What fits beside a header in a line of 64 bytes. */
    public static final int LINE_PAYLOAD_BYTES = 64 - WireHeader.BYTES;

    private static final int SLOT_BYTES_MOST = 1 << 20;
    private static final int PAGE = 4096;

    /**
     * Returns the layout with the largest slots that an area has room for.
     *
     * @param bytes of the area, rings of links not counted
     * @return layout
     * @throws IllegalArgumentException if there is no room for a page each
     */
    public static AreaLayout within(long bytes) {
        long share = (bytes - PAGE) / SLOTS;
        if (share < PAGE) {
            throw new IllegalArgumentException(
                    "an area of " + bytes + " bytes has no room for " + SLOTS + " slots: need " + (1 + SLOTS) * PAGE);
        }
        return new AreaLayout((int) Math.min(SLOT_BYTES_MOST, Long.highestOneBit(share)));
    }

    /**
     * Returns how many ranks the slots serve: a chunk may have a piece of each, in lines of its own.
     *
     * @return ranks at most
     */
    public int ranksMost() {
        return slotBytes / SharedCall.ALIGNMENT;
    }

    /** Returns the header line of an operation, by whether its number among those of the group is odd. */
    static int header(int parity) {
        return parity * Words.LINE_BYTES;
    }

    /** Returns where a header line has its data. */
    static int payload(int parity) {
        return header(parity) + WireHeader.BYTES;
    }

    /** Returns where a header says in which shared memory the tensor lies; 0 for none. */
    static int tensor(int parity) {
        return payload(parity);
    }

    /** Returns where a header says at which byte of that the tensor begins. */
    static int tensorStart(int parity) {
        return payload(parity) + Long.BYTES;
    }

    /** Returns the flag. */
    static int flag() {
        return 2 * Words.LINE_BYTES;
    }

    int slot(int index) {
        return PAGE + index * slotBytes;
    }

    /**
     * Returns the first byte behind all this.
     *
     * @return offset in the area, a multiple of 4096
     */
    public int end() {
        return slot(SLOTS);
    }
}
