package ferro.collectives.shared;

import ferro.spi.Transport.Lane;

/**
 * Where in each rank's area the rings lie by which the others send to it, and its words of sleep and end. Equal on all
 * ranks of a group.
 */
public final class RingLayout {
    /** Bytes behind a ring's end that repeat its beginning, so that a header or element never lies in two pieces. */
    static final int REPEATED_BYTES = 16;

    /** Of all rings of an area together: between two ranks a quarter of a second-level cache each. */
    private static final int BUDGET_BYTES = 2 << 20;

    private static final int RING_BYTES_MOST = 256 << 10;
    private static final int RING_BYTES_LEAST = 8 << 10;
    private static final int LANES = Lane.values().length;

    private final int base;
    private final int worldSize;
    private final int ringBytes;
    private final boolean hasRings;

    /**
     * Makes the layout of a group.
     *
     * @param worldSize ranks of the group
     * @param base      first byte of the area that is for this, a multiple of 128
     * @param hasRings  false where links stay those of the bare medium, and only the words are needed
     * @throws IllegalArgumentException if the base is not
     */
    public RingLayout(int worldSize, int base, boolean hasRings) {
        if (base % Words.LINE_BYTES != 0) {
            throw new IllegalArgumentException(
                    "rings begin at byte " + base + ", which is in the midst of a line of " + Words.LINE_BYTES);
        }
        this.base = base;
        this.worldSize = worldSize;
        this.hasRings = hasRings;
        int rings = Math.max(1, LANES * (worldSize - 1));
        int share = Integer.highestOneBit(BUDGET_BYTES / rings);
        this.ringBytes = Math.max(RING_BYTES_LEAST, Math.min(RING_BYTES_MOST, share));
    }

    /**
     * Returns the first byte behind all this.
     *
     * @return offset in the area, a multiple of 128
     */
    public int end() {
        return hasRings ? ring(worldSize - 1, worldSize, Lane.values()[0]) : base + 2 * Words.LINE_BYTES;
    }

    /**
     * Returns whether links are rings.
     *
     * @return false where only the words are used
     */
    public boolean hasRings() {
        return hasRings;
    }

    /** Returns the bytes that a ring holds, a power of two. */
    int ringBytes() {
        return ringBytes;
    }

    /** Returns the word that is set while the rank of this area sleeps. */
    int asleep() {
        return base;
    }

    /** Returns the word that is set when the rank of this area uses its rings no more. */
    int gone() {
        return base + Words.LINE_BYTES;
    }

    /** Returns where, in the area of the receiver, the ring of a sender begins: with its words, then the bytes. */
    int ring(int receiver, int sender, Lane lane) {
        int among = sender < receiver ? sender : sender - 1;
        int stride = 3 * Words.LINE_BYTES + ringBytes;
        return base + 2 * Words.LINE_BYTES + (among * LANES + lane.ordinal()) * stride;
    }

    /** Returns the word of a ring that says how many bytes were ever put in. */
    static int put(int ring) {
        return ring;
    }

    /** Returns the word of a ring that says how many bytes were ever taken out. */
    static int taken(int ring) {
        return ring + Words.LINE_BYTES;
    }

    /** Returns the first of a ring's bytes. */
    static int bytes(int ring) {
        return ring + 2 * Words.LINE_BYTES;
    }
}
