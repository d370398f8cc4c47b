package ferro.collectives.shared;

import ferro.collectives.link.WireHeader;
import ferro.spi.SegmentSize;
import ferro.spi.Transport.Lane;
import java.util.BitSet;
import java.util.Optional;

/**
 * The layout of the segment of each rank. The layout is the same on all ranks of a host.
 *
 * <p>If all ranks of the group share memory, a segment begins with {@link #HEADERS} header lines, which are used in
 * turn. A header line has an operation's {@link WireHeader} and up to {@link #LINE_PAYLOAD_BYTES} of data. The line
 * after the header lines has the flag that counts what the rank has published, and the number of the operation that has
 * failed on the rank. Then follows, for each header line, a buffer for up to {@link #SMALL_BYTES} of data. After the
 * buffers follow the slots, in which larger data is staged.
 *
 * <p>On every host, the next parts are the words that show whether the rank sleeps and whether the rank has ended. The
 * last part has, for each lane, the rings by which other ranks of the host send to the rank. Only ranks of the host
 * have rings, no matter how many ranks of the group are on other hosts.
 */
public final class SegmentLayout {
    /**
     * Number of slots. A rank copies into one slot while other ranks still read two earlier slots
     * ({@link SharedMemoryProgramBuilder}).
     */
    public static final int SLOTS = 3;

    /**
     * Number of header lines of a rank, a power of two. A rank may end {@code HEADERS - 1} operations of little data
     * before another rank enters the first of these operations. With more ranks than cores, the scheduler runs another
     * rank each time the root has used up these operations.
     */
    public static final int HEADERS = 64;

    /** Maximum size of an operation whose data has its own buffer for each header. */
    public static final int SMALL_BYTES = 4096;

    /** Number of bytes that fit beside a header in a cache line of 64 bytes. */
    public static final int LINE_PAYLOAD_BYTES = 64 - WireHeader.BYTES;

    /**
     * The word of a header with the number of the shared memory that has the operand; 0 if no shared memory has the
     * operand.
     */
    static final int OPERAND = 0;
    /** The word of a header with the first byte of the operand in the shared memory {@link #OPERAND}. */
    static final int OPERAND_START = 1;
    /**
     * The word of a header with the number of the shared memory that has the result; 0 if no shared memory has the
     * result.
     */
    static final int RESULT = 2;
    /** The word of a header with the first byte of the result in the shared memory {@link #RESULT}. */
    static final int RESULT_START = 3;

    private static final int PAGE = 4096;
    /** Bytes of the header lines and of the line with the flag, in whole pages. */
    private static final int LINES_BYTES = ((HEADERS + 1) * ProgressCounters.LINE_BYTES + PAGE - 1) / PAGE * PAGE;
    /** Bytes before the slots. */
    static final int FIRST_SLOT = LINES_BYTES + HEADERS * SMALL_BYTES;

    /** Size of all slots of a group, chosen so that eight ranks with rings fit in the 64 MiB of a container. */
    private static final long BYTES_MOST = 25L << 20;

    private static final int SLOT_BYTES_MOST = 1 << 20;
    private static final int SLOT_BYTES_LEAST = 1 << 16;
    /**
     * Slot size for threads of one process. The size is small, because threads share a cache and tests make many
     * groups.
     */
    private static final int SLOT_BYTES_OF_THREAD = 1 << 17;

    /** Number of bytes after a ring that repeat the ring's beginning, so that no header or element is split. */
    static final int REPEATED_BYTES = 16;

    /** Size of all rings of a segment together. Between two ranks, each ring has a quarter of a second-level cache. */
    private static final int RINGS_BYTES = 2 << 20;

    private static final int RING_BYTES_MOST = 256 << 10;
    private static final int RING_BYTES_LEAST = 8 << 10;
    private static final int LANES = Lane.values().length;

    private final int slotBytes;
    private final boolean hasSlots;
    private final boolean hasRings;
    /** The index of each rank among the ranks of the host. */
    private final int[] places;

    private final int ranks;
    private final int ringBytes;

    /**
     * Lays out segments.
     *
     * @param hosted    ranks of the group that may share memory
     * @param slotBytes size of a slot in bytes, a multiple of 4096
     * @param hasSlots  false if not all ranks of the group are on the host, so that only links use the segments
     * @param hasRings  false if the links of the bare medium are used, so that only the words are needed
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
        int share = Integer.highestOneBit(RINGS_BYTES / Math.max(1, LANES * (ranks - 1)));
        this.ringBytes = Math.max(RING_BYTES_LEAST, Math.min(RING_BYTES_MOST, share));
    }

    /**
     * Lays out the segments of ranks that count as ranks of one host.
     *
     * @param hosted       ranks that count as ranks of one host
     * @param worldSize    number of ranks of the group; a segment has slots only if all ranks are on the host
     * @param isOneProcess whether ranks are threads of one process. Links of threads copy directly from the memory of
     *     one caller to the memory of the other caller, which is faster than a ring
     */
    public static SegmentLayout of(BitSet hosted, int worldSize, boolean isOneProcess) {
        int count = hosted.cardinality();
        long share = Math.max(SLOTS * SLOT_BYTES_LEAST, Math.min(SLOTS * SLOT_BYTES_MOST, BYTES_MOST / count));
        int slot = isOneProcess ? SLOT_BYTES_OF_THREAD : (int) Long.highestOneBit(share / SLOTS);
        return new SegmentLayout(hosted, slot, count == worldSize, !isOneProcess);
    }

    /** {@return why the ranks cannot share memory; empty if the ranks can share memory} */
    public Optional<String> refusedBecause(String group) {
        // a chunk may have a piece of each rank, in cache lines that no other rank writes
        int most = slotBytes / ProgramCall.ALIGNMENT;
        if (ranks == 1) {
            return Optional.of("no other rank of \"" + group + "\" is on its host");
        }
        return ranks <= most
                ? Optional.empty()
                : Optional.of(ranks + " ranks of \"" + group + "\" are on one host, need at most " + most
                        + ": slots of " + slotBytes + " bytes have no room for more");
    }

    /** Returns the size of each segment. Slots take memory when the first call needs them. */
    public SegmentSize size() {
        SegmentSize now = SegmentSize.now(((long) end() + PAGE - 1) / PAGE * PAGE);
        return (hasSlots ? now.withLater(slot(0), slot(SLOTS)) : now).withRanks(ranks);
    }

    /** {@return the bytes of a slot, a multiple of 4096} */
    public int slotBytes() {
        return slotBytes;
    }

    /** {@return whether links are rings; false if only the words for sleep and end are used} */
    public boolean hasRings() {
        return hasRings;
    }

    /** Returns the header line of an operation of the group. */
    static int header(long operation) {
        return line(operation) * ProgressCounters.LINE_BYTES;
    }

    /** Returns the index of the header line of an operation. */
    static int line(long operation) {
        return (int) operation & HEADERS - 1;
    }

    /** Returns where the data of a header line begins. */
    static int payload(long operation) {
        return header(operation) + WireHeader.BYTES;
    }

    /** Returns where the buffer for small data of an operation begins. */
    static int small(long operation) {
        return LINES_BYTES + line(operation) * SMALL_BYTES;
    }

    /** Returns the offset of one of the words {@link #OPERAND} to {@link #RESULT_START} of a header. */
    static int word(long operation, int which) {
        return payload(operation) + which * Long.BYTES;
    }

    /** Returns the offset of the flag that counts what the rank has published. */
    static int flag() {
        return HEADERS * ProgressCounters.LINE_BYTES;
    }

    /**
     * Returns the offset of the number of the operation that has failed on the rank. Numbers begin at 1; 0 means no
     * failure.
     */
    static int abandoned() {
        return flag() + Long.BYTES;
    }

    /**
     * Returns the number of bytes of a slot to reserve for data of a length. The number is the next power of two, but
     * at least a page and at most the whole slot. So operations of growing length do not reserve memory each time.
     */
    int reserved(int bytes) {
        return Math.min(slotBytes, Math.max(PAGE, Integer.highestOneBit(Math.max(1, bytes - 1)) << 1));
    }

    /** Returns the offset of a slot, a multiple of 4096. */
    int slot(int index) {
        return FIRST_SLOT + index * slotBytes;
    }

    /** Returns the word that is set while the rank of this segment sleeps. */
    int asleep() {
        return hasSlots ? slot(SLOTS) : 0;
    }

    /** Returns the word that is set when the rank of this segment no longer uses its rings. */
    int gone() {
        return asleep() + ProgressCounters.LINE_BYTES;
    }

    /** Returns the capacity of a ring in bytes, a power of two. */
    int ringBytes() {
        return ringBytes;
    }

    /**
     * Returns where the ring of a sender begins in the segment of the receiver. The words of the ring precede its
     * bytes.
     */
    int ring(int receiver, int sender, Lane lane) {
        int among = places[sender] < places[receiver] ? places[sender] : places[sender] - 1;
        return ring(among * LANES + lane.ordinal());
    }

    private int ring(int index) {
        return asleep() + 2 * ProgressCounters.LINE_BYTES + index * (3 * ProgressCounters.LINE_BYTES + ringBytes);
    }

    /** Returns the offset of the word that counts all bytes ever put into a ring. */
    static int put(int ring) {
        return ring;
    }

    /** Returns the offset of the word that counts all bytes ever taken out of a ring. */
    static int taken(int ring) {
        return ring + ProgressCounters.LINE_BYTES;
    }

    /** Returns the offset of the first data byte of a ring. */
    static int bytes(int ring) {
        return ring + 2 * ProgressCounters.LINE_BYTES;
    }

    /** Returns the offset of the first byte after the segment's data, a multiple of 128. */
    int end() {
        return ring(hasRings ? LANES * (ranks - 1) : 0);
    }
}
