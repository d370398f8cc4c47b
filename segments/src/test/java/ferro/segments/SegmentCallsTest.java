package ferro.segments;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.ProcessGroup;
import ferro.harness.Medium;
import ferro.harness.Ranks;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every kind of call on native and heap segments, over every medium. */
class SegmentCallsTest {
    /** One element, a few that are staged, and more than what a system call of its own is worth. */
    private static final int[] LENGTHS = {1, 1003, 200_003};

    private static final int RANKS = 2;

    @ParameterizedTest
    @EnumSource
    void reductionsCombineTheElementsOfSegments(Medium medium) {
        run(medium, (group, length, isNative) -> {
            MemorySegment sum = filled(isNative, length, group.rank());
            group.allReduce(tensor(sum), ReduceOp.SUM);
            expect(sum, index -> value(index, 0) + value(index, 1));
            MemorySegment larger = filled(isNative, length, group.rank());
            group.allReduceAsync(tensor(larger), ReduceOp.MAX).await();
            expect(larger, index -> Math.max(value(index, 0), value(index, 1)));

            MemorySegment reduced = filled(isNative, length, group.rank());
            group.reduce(tensor(reduced), ReduceOp.SUM, 1);
            if (group.rank() == 1) {
                expect(reduced, index -> value(index, 0) + value(index, 1));
            }
            MemorySegment part = empty(isNative, length);
            group.reduceScatter(tensor(filled(isNative, RANKS * length, group.rank())), tensor(part), ReduceOp.SUM);
            int first = group.rank() * length;
            expect(part, index -> value(first + index, 0) + value(first + index, 1));
        });
    }

    @ParameterizedTest
    @EnumSource
    void transfersCopyTheElementsOfSegments(Medium medium) {
        run(medium, (group, length, isNative) -> {
            int rank = group.rank();
            MemorySegment data = filled(isNative, length, rank);
            group.broadcast(tensor(data), 1);
            expect(data, index -> value(index, 1));
            MemorySegment all = empty(isNative, RANKS * length);
            group.allGather(tensor(filled(isNative, length, rank)), tensor(all));
            expect(all, index -> value(index % length, index / length));
            MemorySegment swapped = empty(isNative, RANKS * length);
            group.allToAllAsync(tensor(filled(isNative, RANKS * length, rank)), tensor(swapped))
                    .await();
            expect(swapped, index -> value(rank * length + index % length, index / length));
            MemorySegment own = empty(isNative, length);
            group.scatter(tensor(all), tensor(own), 0);
            expect(own, index -> value(index, rank));
            MemorySegment gathered = empty(isNative, RANKS * length);
            group.gather(tensor(own), tensor(gathered), 1);
            if (rank == 1) {
                expect(gathered, index -> value(index % length, index / length));
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void messagesCarryTheElementsOfSegments(Medium medium) {
        run(medium, (group, length, isNative) -> {
            int other = 1 - group.rank();
            MemorySegment came = empty(isNative, length);
            Work receive = group.recvAsync(tensor(came), other, 3);
            group.send(tensor(filled(isNative, length, group.rank())), other, 3);
            receive.await();
            expect(came, index -> value(index, other));
        });
    }

    @ParameterizedTest
    @EnumSource
    void aReadOnlySegmentIsReadAndAWrongCallMovesNothing(Medium medium) {
        Ranks.each(medium, 2, Ranks.ON_DISK, group -> {
            MemorySegment weights = filled(true, 200_003, 0).asReadOnly();
            MemorySegment copy = empty(true, 200_003);
            assertThrows(
                    IllegalArgumentException.class,
                    () -> group.allReduce(tensor(weights), ReduceOp.SUM),
                    "in place is an output");
            group.broadcast(tensor(group.rank() == 0 ? weights : copy), 0);
            expect(group.rank() == 0 ? weights : copy, index -> value(index, 0));
            assertThrows(IllegalArgumentException.class, () -> group.recv(tensor(weights), 1 - group.rank(), 0));
            MemorySegment sum = empty(true, 100_001);
            group.reduceScatter(tensor(weights.asSlice(0, 4L * 200_002)), tensor(sum), ReduceOp.SUM);
            expect(sum, index -> 2 * value(group.rank() * 100_001 + index, 0));
        });
    }

    /** Calls of one rank, on segments of a length that are native or on the heap. */
    private interface LengthCode {
        void run(ProcessGroup group, int length, boolean isNative);
    }

    private interface ByIndex {
        float at(int index);
    }

    private static void run(Medium medium, LengthCode code) {
        try (Ranks ranks = Ranks.over(medium, 2, Ranks.ON_DISK)) {
            ranks.each(group -> {
                for (int length : LENGTHS) {
                    for (boolean isNative : List.of(true, false)) {
                        code.run(group, length, isNative);
                    }
                }
            });
            for (int rank = 0; rank < RANKS; rank++) {
                assertEquals(true, ranks.group(rank).failure().isEmpty());
            }
        }
    }

    private static HostTensor tensor(MemorySegment segment) {
        return Segments.tensor(DataType.FLOAT32, segment);
    }

    private static MemorySegment empty(boolean isNative, int length) {
        return isNative
                ? Arena.ofAuto().allocate(4L * length, 4)
                : MemorySegment.ofArray(new float[length + 2]).asSlice(4, 4L * length);
    }

    private static MemorySegment filled(boolean isNative, int length, int rank) {
        MemorySegment segment = empty(isNative, length);
        for (int i = 0; i < length; i++) {
            segment.setAtIndex(ValueLayout.JAVA_FLOAT, i, value(i, rank));
        }
        return segment;
    }

    private static float value(int index, int rank) {
        return (index % 1001 + 2) * (rank + 3);
    }

    private static void expect(MemorySegment segment, ByIndex value) {
        float[] expected = new float[(int) (segment.byteSize() / 4)];
        for (int i = 0; i < expected.length; i++) {
            expected[i] = value.at(i);
        }
        assertArrayEquals(expected, segment.toArray(ValueLayout.JAVA_FLOAT));
    }
}
