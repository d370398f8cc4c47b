package ferro.segments;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.harness.Medium;
import ferro.harness.Ranks;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tensors above 2 GiB. Each test needs 4.5 GiB of memory. */
@Tag("large")
@Timeout(170)
class LargeSegmentsTest {
    /** 2.2 GiB, and no multiple of a power of two. */
    private static final long BYTES = (9L << 28) - 12_345 * 8;

    private static final int BLOCK_LONGS = 1 << 16;
    private static final long BLOCK_BYTES = 8L * BLOCK_LONGS;

    @Test
    void anAllReduceAndABroadcastInSharedMemoryReachEveryElement() {
        Ranks.each(Medium.SHM, 2, Ranks.ON_DISK, group -> {
            try (Arena arena = Arena.ofShared()) {
                MemorySegment segment = arena.allocate(BYTES, 8);
                fill(segment, group.rank() + 2);
                HostTensor longs = Segments.tensor(DataType.INT64, segment);
                assertThrows(IllegalStateException.class, longs::memory);
                group.allReduce(longs, ReduceOp.SUM);
                expect(segment, 5);

                HostTensor bytes = Segments.tensor(DataType.INT8, segment);
                assertTrue(bytes.elementCount() > Integer.MAX_VALUE);
                if (group.rank() == 0) {
                    segment.fill((byte) 0);
                }
                group.broadcast(bytes, 1);
                expect(segment, 5);
                assertEquals(segment.get(ValueLayout.JAVA_BYTE, BYTES - 8), bytes.getByte(BYTES - 8));
            }
        });
    }

    @Test
    void aMessageOverTcpReachesEveryElement() {
        Ranks.each(Medium.TCP, 2, Ranks.ON_DISK, group -> {
            try (Arena arena = Arena.ofShared()) {
                MemorySegment segment = arena.allocate(BYTES, 8);
                if (group.rank() == 0) {
                    fill(segment, 7);
                    group.send(Segments.tensor(DataType.INT64, segment), 1, 0);
                } else {
                    group.recv(Segments.tensor(DataType.INT8, segment), 0, 0);
                    expect(segment, 7);
                }
            }
        });
    }

    private static void fill(MemorySegment segment, long factor) {
        MemorySegment block = block(factor);
        for (long from = 0; from < BYTES; from += BLOCK_BYTES) {
            block.setAtIndex(ValueLayout.JAVA_LONG, 0, (from + 3) * factor);
            MemorySegment.copy(block, 0, segment, from, Math.min(BLOCK_BYTES, BYTES - from));
        }
    }

    private static void expect(MemorySegment segment, long factor) {
        MemorySegment block = block(factor);
        for (long from = 0; from < BYTES; from += BLOCK_BYTES) {
            block.setAtIndex(ValueLayout.JAVA_LONG, 0, (from + 3) * factor);
            long length = Math.min(BLOCK_BYTES, BYTES - from);
            long wrong = MemorySegment.mismatch(segment, from, from + length, block, 0, length);
            assertEquals(-1, wrong, "bytes that are right, from " + from + " on");
        }
    }

    /** Returns the elements that every block has but for its first one, which depends on where the block is. */
    private static MemorySegment block(long factor) {
        long[] longs = new long[BLOCK_LONGS];
        for (int i = 0; i < BLOCK_LONGS; i++) {
            longs[i] = (31L * i + 2) * factor;
        }
        return MemorySegment.ofArray(longs);
    }
}
