package ferro.collectives.shared;

import ferro.spi.Transport;
import java.nio.ByteBuffer;
import java.util.function.IntConsumer;

/**
 * The segments that a {@link SharedMachine} works in.
 *
 * @param rank   this rank
 * @param layout layout of each segment
 * @param areas  segments of all ranks, zero where the layout has anything
 * @param events receives an event for a rank that is in another call
 * @param wake   wakes a rank that may sleep, after something was published for it
 * @param looks  most polls of the fast path
 * @param slots  reserves memory of this rank's slots, which is not there before
 */
public record SegmentView(
        int rank,
        SegmentLayout layout,
        ByteBuffer[] areas,
        Transport.Events events,
        IntConsumer wake,
        int looks,
        SlotMemory slots) {

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
}
