package ferro.collectives.shared;

/**
 * Where the chunks of the operation under way, or of the next one, lie in each segment. Used by the thread that makes
 * progress.
 */
final class ChunkPlaces {
    private final SegmentLayout layout;
    private final SharedProgress standing;
    /** First byte of the slot of chunk i mod SLOTS. */
    private final int[] slots = new int[SegmentLayout.SLOTS];

    ChunkPlaces(SegmentLayout layout, SharedProgress standing) {
        this.layout = layout;
        this.standing = standing;
        moveOn();
    }

    /** Places the chunks of the next operation, behind those of an operation that has just been finished. */
    void moveOn() {
        for (int i = 0; i < SegmentLayout.SLOTS; i++) {
            slots[i] = layout.slot((int) ((standing.chunks() + i) % SegmentLayout.SLOTS));
        }
    }

    /** Returns the first byte of the place in a segment that a step names. */
    int at(Program work, int step) {
        int chunk = work.chunk[step];
        int start = switch (chunk) {
            case Program.LINE -> SegmentLayout.payload(standing.operation());
            case Program.SMALL -> SegmentLayout.small(standing.operation());
            default -> slots[chunk % SegmentLayout.SLOTS];
        };
        return start + work.at[step];
    }
}
