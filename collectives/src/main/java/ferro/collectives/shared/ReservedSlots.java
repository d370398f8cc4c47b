package ferro.collectives.shared;

/**
 * Memory of this rank's slots: reserved when an operation stages more than any before it. Other ranks write to these slots
 * only after this rank has entered, so that no rank needs to know how much another has reserved.
 */
final class ReservedSlots {
    private final SegmentLayout layout;
    private final SlotMemory memory;
    /** Bytes of each slot that are there. */
    private int reserved;

    ReservedSlots(SegmentLayout layout, SlotMemory memory) {
        this.layout = layout;
        this.memory = memory;
    }

    /** Reserves what an operation uses; called before this rank stages anything of it. */
    void reserve(Program work) {
        if (work.slotBytes > reserved) {
            int wanted = layout.reserved(work.slotBytes);
            for (int slot = 0; slot < SegmentLayout.SLOTS; slot++) {
                memory.reserve(layout.slot(slot) + reserved, wanted - reserved);
            }
            reserved = wanted;
        }
    }
}
