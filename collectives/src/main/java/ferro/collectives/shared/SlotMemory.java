package ferro.collectives.shared;

/** Reserves memory of this rank's slots, which a segment leaves for later. */
public interface SlotMemory {
    /**
     * Reserves a part of this rank's segment.
     *
     * @param from  first byte
     * @param bytes how many
     */
    void reserve(long from, long bytes);
}
