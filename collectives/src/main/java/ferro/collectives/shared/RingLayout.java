package ferro.collectives.shared;

import ferro.spi.Transport.Lane;
import java.util.BitSet;

/**
 * The layout of each rank's segment: the rings by which other ranks of its host send to it, and its words of sleep and
 * end. Equal on all ranks of the host.
 */
public final class RingLayout {
    /** Bytes behind the end of a ring that repeat its beginning, so that a header or element is never split. */
    static final int REPEATED_BYTES = 16;

    /** Bytes of all rings of a segment together; between two ranks each ring has a quarter of a second-level cache. */
    private static final int BUDGET_BYTES = 2 << 20;

    private static final int RING_BYTES_MOST = 256 << 10;
    private static final int RING_BYTES_LEAST = 8 << 10;
    private static final int LANES = Lane.values().length;

    private final int base;
    /** By rank: its place among the ranks of the host. */
    private final int[] places;

    private final int count;
    private final int ringBytes;
    private final boolean hasRings;

    /** Makes the layout of a group whose ranks are all on one host. */
    RingLayout(int worldSize, int base, boolean hasRings) {
        this(all(worldSize), base, hasRings);
    }

    /**
     * Makes the layout of the ranks of one host. Only they have rings, no matter how many ranks of the group are on other
     * hosts.
     *
     * @param hosted   ranks of the group that may share memory
     * @param base     first byte of the segment that this layout may use, a multiple of 128
     * @param hasRings false where links stay those of the bare medium and only the words are needed
     * @throws IllegalArgumentException if the base is not a multiple of 128
     */
    public RingLayout(BitSet hosted, int base, boolean hasRings) {
        if (base % ProgressWords.LINE_BYTES != 0) {
            throw new IllegalArgumentException("rings begin at byte " + base
                    + ": need a multiple of the cache line size " + ProgressWords.LINE_BYTES);
        }
        this.base = base;
        this.hasRings = hasRings;
        this.count = hosted.cardinality();
        this.places = new int[hosted.length()];
        for (int rank = hosted.nextSetBit(0), place = 0; rank >= 0; rank = hosted.nextSetBit(rank + 1)) {
            places[rank] = place++;
        }
        int rings = Math.max(1, LANES * (count - 1));
        int share = Integer.highestOneBit(BUDGET_BYTES / rings);
        this.ringBytes = Math.max(RING_BYTES_LEAST, Math.min(RING_BYTES_MOST, share));
    }

    private static BitSet all(int worldSize) {
        BitSet all = new BitSet();
        all.set(0, worldSize);
        return all;
    }

    /**
     * Returns the first byte behind this layout.
     *
     * @return offset in the segment, a multiple of 128
     */
    public int end() {
        return start(hasRings ? LANES * (count - 1) : 0);
    }

    /**
     * Returns whether links are rings.
     *
     * @return false where only the words are used
     */
    public boolean hasRings() {
        return hasRings;
    }

    /** Returns the capacity of a ring in bytes, a power of two. */
    int ringBytes() {
        return ringBytes;
    }

    /** Returns the word that is set while the rank of this segment sleeps. */
    int asleep() {
        return base;
    }

    /** Returns the word that is set when the rank of this segment no longer uses its rings. */
    int gone() {
        return base + ProgressWords.LINE_BYTES;
    }

    /** Returns where the ring of a sender begins in the segment of the receiver: its words first, then its bytes. */
    int ring(int receiver, int sender, Lane lane) {
        int among = places[sender] < places[receiver] ? places[sender] : places[sender] - 1;
        return start(among * LANES + lane.ordinal());
    }

    private int start(int ring) {
        return base + 2 * ProgressWords.LINE_BYTES + ring * (3 * ProgressWords.LINE_BYTES + ringBytes);
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
}
