package ferro.segments;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tensors above 2 GiB. Each test needs 4.5 GiB of memory. */
@Tag("large")
@Timeout(120)
class LargeSegmentsTest {
    /** 2.2 GiB, and no multiple of a power of two. */
    private static final long BYTES = (9L << 28) - 12_345 * 8;

    private static final long LONGS = BYTES / 8;

    @Test
    void anAllReduceAndABroadcastInSharedMemoryReachEveryElement() {
        try (MediumRanks ranks = MediumRanks.over("shm")) {
            ranks.run(group -> {
                try (Arena arena = Arena.ofShared()) {
                    MemorySegment segment = arena.allocate(BYTES, 8);
                    long factor = group.rank() + 2;
                    for (long i = 0; i < LONGS; i++) {
                        segment.setAtIndex(ValueLayout.JAVA_LONG, i, (i + 3) * factor);
                    }
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
                    assertEquals((byte) segment.get(ValueLayout.JAVA_BYTE, BYTES - 8), bytes.getByte(BYTES - 8));
                }
            });
        }
    }

    @Test
    void aMessageOverTcpReachesEveryElement() {
        try (MediumRanks ranks = MediumRanks.over("tcp")) {
            ranks.run(group -> {
                try (Arena arena = Arena.ofShared()) {
                    MemorySegment segment = arena.allocate(BYTES, 8);
                    if (group.rank() == 0) {
                        for (long i = 0; i < LONGS; i++) {
                            segment.setAtIndex(ValueLayout.JAVA_LONG, i, (i + 3) * 7);
                        }
                        group.send(Segments.tensor(DataType.INT64, segment), 1, 0);
                    } else {
                        group.recv(Segments.tensor(DataType.INT8, segment), 0, 0);
                        expect(segment, 7);
                    }
                }
            });
        }
    }

    private static void expect(MemorySegment segment, long factor) {
        for (long i = 0; i < LONGS; i++) {
            if (segment.getAtIndex(ValueLayout.JAVA_LONG, i) != (i + 3) * factor) {
                assertEquals((i + 3) * factor, segment.getAtIndex(ValueLayout.JAVA_LONG, i), "element " + i);
            }
        }
    }
}
