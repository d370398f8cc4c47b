package ferro.tck;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.Allocation;
import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rule 115, about memory that a group allocates. */
public interface MemoryRules extends Subject {
    /**
     * Checks that memory that a group allocates gives the same results as arrays, even after some or all ranks have
     * closed the memory. Memory of the group and arrays may differ only in the duration of calls.
     *
     * @param worldSize number of ranks
     */
    @Rule(115)
    @ParameterizedTest(name = "{0} ranks")
    @ValueSource(ints = {1, 2, 3, 4})
    default void allocatedMemoryIsUsedAsArraysAre(int worldSize) {
        eachRank(worldSize, group -> {
            for (int length : new int[] {0, 1, 61, 5_000, aboveASegment()}) {
                Allocation first = zeros(group, length);
                Allocation second = zeros(group, length);
                sumsAreThoseOfArrays(group, first.tensor());
                broadcastIsThatOfAnArray(group, second.tensor(), length);
                if (group.rank() % 2 == 0) {
                    first.close();
                }
                sumsAreThoseOfArrays(group, first.tensor());
                first.close();
                sumsAreThoseOfArrays(group, first.tensor());
                sumsAreThoseOfArrays(group, second.tensor());
            }
            for (int part : new int[] {61, 5_000, aboveASegment() / 3}) {
                long elements = (long) part * group.worldSize();
                try (Allocation first = group.allocate(DataType.FLOAT32, elements);
                        Allocation second = group.allocate(DataType.FLOAT32, elements)) {
                    new AllocatedCalls(group, first.tensor(), second.tensor(), part).compare();
                }
            }
        });
    }

    private static Allocation zeros(ProcessGroup group, int length) {
        Allocation made = group.allocate(DataType.FLOAT32, length);
        HostTensor tensor = made.tensor();
        assertEquals(DataType.FLOAT32, tensor.dataType());
        assertEquals(length, tensor.elementCount());
        Expect.same(new float[length], AllocatedCalls.elements(tensor), () -> "new memory of rank " + group.rank());
        assertEquals(made.whyNotShared().isEmpty(), made.isShared(), made.whyNotShared());
        return made;
    }

    /**
     * Compares sums in memory of {@code group.allocate} with sums in arrays. In each of the first rounds one rank uses
     * an array. In the last round all ranks use memory of {@code group.allocate}. After the rounds, all ranks use a
     * slice of memory of {@code group.allocate}.
     */
    private static void sumsAreThoseOfArrays(ProcessGroup group, HostTensor given) {
        int length = (int) given.elementCount();
        float[] input = Expect.magnitudes(length, 17L * group.rank() + length);
        float[] sum = input.clone();
        group.allReduce(sum, ReduceOp.SUM);
        for (int round = 0; round <= group.worldSize(); round++) {
            HostTensor operand = group.rank() == round ? HostTensor.of(input.clone()) : given;
            AllocatedCalls.filled(given, input);
            group.allReduce(operand, ReduceOp.SUM);
            String what = "sum of " + length + " on rank " + group.rank() + ", with an array on rank " + round;
            Expect.same(sum, AllocatedCalls.elements(operand), () -> what);
        }
        if (length > 2) {
            AllocatedCalls.filled(given, input);
            group.allReduce(given.slice(1, length - 2L), ReduceOp.MAX);
            assertEquals(input[0], AllocatedCalls.elements(given)[0], "element before the slice");
            assertEquals(input[length - 1], AllocatedCalls.elements(given)[length - 1], "element after the slice");
        }
    }

    /**
     * Broadcasts in a second allocation, which has the same length as the first allocation. No byte of the first
     * allocation may be visible in the second allocation.
     */
    private static void broadcastIsThatOfAnArray(ProcessGroup group, HostTensor given, int length) {
        Expect.same(
                new float[length],
                AllocatedCalls.elements(given),
                () -> "memory that no call has written, rank " + group.rank());
        float[] wanted = new float[length];
        for (int i = 0; i < length; i++) {
            wanted[i] = 3 + i % 127;
        }
        int root = group.worldSize() - 1;
        if (group.rank() == root) {
            AllocatedCalls.filled(given, wanted);
        }
        group.broadcast(given, root);
        Expect.same(
                wanted, AllocatedCalls.elements(given), () -> "broadcast of " + length + " to rank " + group.rank());
    }
}
