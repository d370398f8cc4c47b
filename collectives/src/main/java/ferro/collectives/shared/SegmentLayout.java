package ferro.collectives.shared;

import ferro.collectives.link.WireHeader;
import ferro.spi.SegmentSize;
import ferro.spi.Transport.Lane;
import java.util.BitSet;
import java.util.Optional;

/**
 * The layout of each rank's segment; the same on all ranks of a host.
 *
 * <p>Where all ranks of the group share memory, first come {@link #HEADERS} header lines, used in turn: an operation's
 * {@link WireHeader}, and up to {@link #LINE_PAYLOAD_BYTES} of data beside it. Then comes the line of the flag that counts
 * what the rank has published; beside the flag stands the number of the operation that has failed on the rank. Then comes,
 * for each header line, room for up to {@link #SMALL_BYTES} of data. Then come the slots in which larger data is staged.
 *
 * <p>Behind them, and on every host, come the rank's words of sleep and end, and the rings by which other ranks of its host
 * send to it, for each lane. Only ranks of the host have rings, no matter how many ranks of the group are on other hosts.
 */
public final class SegmentLayout {
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

    /** The word of a header that says in which shared memory the operand lies, by its number; 0 for none. */
    static final int OPERAND = 0;
    /** The word of a header that says at which byte of that memory the operand begins. */
    static final int OPERAND_START = 1;
    /** As {@link #OPERAND}, for the result. */
    static final int RESULT = 2;
    /** As {@link #OPERAND_START}, for the result. */
    static final int RESULT_START = 3;

    private static final int PAGE = 4096;
    /** Bytes before the slots. */
    static final int FIRST_SLOT = PAGE + HEADERS * SMALL_BYTES;

    /** Bytes of all segments of a group, without rings: with these, eight ranks fit in the 64 MiB that a container has. */
    private static final long BYTES_MOST = 25L << 20;

    private static final int SLOT_BYTES_MOST = 1 << 20;
    private static final int SLOT_BYTES_LEAST = 1 << 16;
    /** Smaller for threads of one process: they share a cache, and tests make groups of them by the thousand. */
    private static final int SLOT_BYTES_OF_THREAD = 1 << 17;

    /** Bytes behind the end of a ring that repeat its beginning, so that a header or element is never split. */
    static final int REPEATED_BYTES = 16;

    /** Bytes of all rings of a segment together; between two ranks each ring has a quarter of a second-level cache. */
    private static final int RINGS_BYTES = 2 << 20;

    private static final int RING_BYTES_MOST = 256 << 10;
    private static final int RING_BYTES_LEAST = 8 << 10;
    private static final int LANES = Lane.values().length;

    private final int slotBytes;
    private final boolean hasSlots;
    private final boolean hasRings;
    /** By rank: its place among the ranks of the host. */
    private final int[] places;

    private final int ranks;
    private final int ringBytes;

    /**
     * Lays out segments.
     *
     * @param hosted    ranks of the group that may share memory
     * @param slotBytes size of a slot, a multiple of 4096
     * @param hasSlots  false where not all ranks of the group are on the host, so that only links use the segments
     * @param hasRings  false where links stay those of the bare medium and only the words are needed
     */
    SegmentLayout(BitSet hosted, int slotBytes, boolean hasSlots, boolean hasRings) {
        this.slotBytes = slotBytes;
        this.hasSlots = hasSlots;
        this.hasRings = hasRings;
        this.ranks = hosted.cardinality();
        this.places = new int[hosted.length()];
        for (int rank = hosted.nextSetBit(0), place = 0; rank >= 0; rank = hosted.nextSetBit(rank + 1)) {
            places[rank] = place++;
        }
        int rings = Math.max(1, LANES * (ranks - 1));
        int share = Integer.highestOneBit(RINGS_BYTES / rings);
        this.ringBytes = Math.max(RING_BYTES_LEAST, Math.min(RING_BYTES_MOST, share));
    }

    /**
     * Lays out the segments of the ranks that count as of one host.
     *
     * @param hosted       those ranks
     * @param worldSize    number of ranks of the group; there are slots only if all of them are on the host
     * @param isOneProcess whether ranks are threads of one process: then links copy from one caller's memory to the other's
     *     directly, which is better than any ring
     */
    public static SegmentLayout of(BitSet hosted, int worldSize, boolean isOneProcess) {
        int count = hosted.cardinality();
        long share = Math.max(SLOTS * SLOT_BYTES_LEAST, Math.min(SLOTS * SLOT_BYTES_MOST, BYTES_MOST / count));
        int slot = isOneProcess ? SLOT_BYTES_OF_THREAD : (int) Long.highestOneBit(share / SLOTS);
        return new SegmentLayout(hosted, slot, count == worldSize, !isOneProcess);
    }

    /** {@return why the ranks cannot share memory; empty if they can} */
    public Optional<String> refusedBecause(String group) {
        // a chunk may have a piece of each rank, in lines of its own
        int most = slotBytes / SharedCall.ALIGNMENT;
        if (ranks == 1) {
            return Optional.of("no other rank of \"" + group + "\" is on its host");
        }
        return ranks <= most
                ? Optional.empty()
                : Optional.of(ranks + " ranks of \"" + group + "\" are on one host, need at most " + most
                        + ": slots of " + slotBytes + " bytes have no room for more");
    }

    /** Returns the size of each segment; the slots take memory when the first call needs them. */
    public SegmentSize size() {
        SegmentSize now = SegmentSize.now(((long) end() + PAGE - 1) / PAGE * PAGE);
        return (hasSlots ? now.withLater(slot(0), slot(SLOTS)) : now).withRanks(ranks);
    }

    /** {@return the bytes of a slot, a multiple of 4096} */
    public int slotBytes() {
        return slotBytes;
    }

    /** {@return whether links are rings; false where only the words are used} */
    public boolean hasRings() {
        return hasRings;
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

    /** Returns where a header holds one of the words {@link #OPERAND} to {@link #RESULT_START}. */
    static int word(long operation, int which) {
        return payload(operation) + which * Long.BYTES;
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

    /** Returns where a slot begins: a multiple of 4096. */
    int slot(int index) {
        return FIRST_SLOT + index * slotBytes;
    }

    /** Returns the word that is set while the rank of this segment sleeps. */
    int asleep() {
        return hasSlots ? slot(SLOTS) : 0;
    }

    /** Returns the word that is set when the rank of this segment no longer uses its rings. */
    int gone() {
        return asleep() + ProgressWords.LINE_BYTES;
    }

    /** Returns the capacity of a ring in bytes, a power of two. */
    int ringBytes() {
        return ringBytes;
    }

    /** Returns where the ring of a sender begins in the segment of the receiver: its words first, then its bytes. */
    int ring(int receiver, int sender, Lane lane) {
        int among = places[sender] < places[receiver] ? places[sender] : places[sender] - 1;
        return ring(among * LANES + lane.ordinal());
    }

    private int ring(int index) {
        return asleep() + 2 * ProgressWords.LINE_BYTES + index * (3 * ProgressWords.LINE_BYTES + ringBytes);
    }

    /** Returns the word of a ring that counts all bytes ever put in. */
    static int put(int ring) {
        return ring;
    }

    /** Returns the word of a ring that counts all bytes ever taken out. */
    static int taken(int ring) {
        return ring + ProgressWords.LINE_BYTES;
    }

    /** Returns the first of a ring's bytes. */
    static int bytes(int ring) {
        return ring + 2 * ProgressWords.LINE_BYTES;
    }

    /** Returns the first byte behind this layout, a multiple of 128. */
    int end() {
        return ring(hasRings ? LANES * (ranks - 1) : 0);
    }
}
