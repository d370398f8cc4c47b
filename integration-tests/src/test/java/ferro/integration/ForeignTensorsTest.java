package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.harness.Ranks;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls on foreign memory that several buffers have, over every medium, compared with the same calls on arrays. */
class ForeignTensorsTest {
    private static final int RANKS = 2;
    /** More than two buffers, and no multiple of anything. */
    private static final int LENGTH = 5 * PartedMemory.BUFFER_BYTES / 8 + 77;

    private static final DataType TYPE = DataType.INT32;

    @Tag("long")
    @ParameterizedTest
    @ValueSource(strings = {"simulated", "tcp", "shm"})
    void reductionsOfForeignMemoryEqualThoseOfArrays(String medium) {
        Ranks.each(medium, RANKS, group -> {
            int[] array = numbers(LENGTH, group.rank());
            HostTensor sum = parted(LENGTH, group.rank());
            group.allReduce(array, ReduceOp.SUM);
            group.allReduce(sum, ReduceOp.SUM);
            same(array, sum);

            int[] average = numbers(LENGTH, group.rank());
            HostTensor averaged = parted(LENGTH, group.rank());
            group.allReduce(average, ReduceOp.AVG);
            group.allReduce(averaged, ReduceOp.AVG);
            same(average, averaged);

            HostTensor reduced = parted(LENGTH, group.rank());
            group.reduce(reduced, ReduceOp.SUM, 1);
            if (group.rank() == 1) {
                same(array, reduced);
            }
            HostTensor part = PartedMemory.tensor(TYPE, LENGTH);
            int[] wanted = new int[LENGTH];
            group.reduceScatter(numbers(RANKS * LENGTH, group.rank()), wanted, ReduceOp.MAX);
            group.reduceScatter(parted(RANKS * LENGTH, group.rank()), part, ReduceOp.MAX);
            same(wanted, part);
        });
    }

    @Tag("long")
    @ParameterizedTest
    @ValueSource(strings = {"simulated", "tcp", "shm"})
    void transfersOfForeignMemoryEqualThoseOfArrays(String medium) {
        Ranks.each(medium, RANKS, group -> {
            int rank = group.rank();
            HostTensor data = parted(LENGTH, rank);
            group.broadcast(data, 1);
            same(numbers(LENGTH, 1), data);

            HostTensor all = PartedMemory.tensor(TYPE, RANKS * LENGTH);
            group.allGather(parted(LENGTH, rank), all);
            same(numbers(LENGTH, 0), all.slice(0, LENGTH));
            same(numbers(LENGTH, 1), all.slice(LENGTH, LENGTH));
            HostTensor own = PartedMemory.tensor(TYPE, LENGTH);
            group.scatter(all, own, 0);
            same(numbers(LENGTH, rank), own);
            HostTensor gathered = PartedMemory.tensor(TYPE, RANKS * LENGTH);
            group.gather(own, gathered, 0);
            HostTensor swapped = PartedMemory.tensor(TYPE, RANKS * LENGTH);
            group.allToAll(all, swapped);
            same(numbers(LENGTH, rank), swapped.slice(0, LENGTH));
            if (rank == 0) {
                same(numbers(LENGTH, 1), gathered.slice(LENGTH, LENGTH));
            }
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"simulated", "tcp", "shm"})
    void messagesOfForeignMemoryEqualThoseOfArrays(String medium) {
        Ranks.each(medium, RANKS, group -> {
            int other = 1 - group.rank();
            HostTensor came = PartedMemory.tensor(TYPE, LENGTH);
            Work receive = group.recvAsync(came, other, 0);
            group.sendAsync(parted(LENGTH, group.rank()), other, 0).await();
            receive.await();
            same(numbers(LENGTH, other), came);

            HostTensor bytes = PartedMemory.tensor(DataType.INT8, 4 * LENGTH);
            Work own = group.sendAsync(came, group.rank(), 0);
            group.recv(bytes, group.rank(), 0);
            own.await();
            for (int i = 0; i < LENGTH; i += 4093) {
                int expected = came.getInt(i);
                assertEquals((byte) expected, bytes.getByte(4L * i), "little-endian bytes of " + expected);
            }
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"simulated", "tcp", "shm"})
    void callsOnFreedMemoryAreRefusedAndTheGroupContinues(String medium) {
        Ranks.each(medium, RANKS, group -> {
            PartedMemory memory = new PartedMemory(64);
            HostTensor tensor = HostTensor.of(TYPE, memory);
            memory.isFreed = true;
            assertThrows(IllegalStateException.class, () -> group.allReduce(tensor, ReduceOp.SUM));
            assertThrows(IllegalStateException.class, () -> group.broadcastAsync(tensor, 0));
            String send = assertThrows(IllegalStateException.class, () -> group.send(tensor, 0, 0))
                    .getMessage();
            assertTrue(send.startsWith("send: the memory of tensor i32[16] was freed"), send);
            assertThrows(IllegalStateException.class, () -> group.recv(tensor, 0, 0));
            group.barrier();
        });
    }

    private static int[] numbers(int count, int rank) {
        int[] numbers = new int[count];
        for (int i = 0; i < count; i++) {
            numbers[i] = (i + 3) * (rank + 2);
        }
        return numbers;
    }

    private static HostTensor parted(int count, int rank) {
        HostTensor tensor = PartedMemory.tensor(TYPE, count);
        tensor.copyFrom(0, numbers(count, rank), 0, count);
        return tensor;
    }

    private static void same(int[] expected, HostTensor found) {
        int[] elements = new int[expected.length];
        found.copyTo(0, elements, 0, elements.length);
        assertArrayEquals(expected, elements);
    }
}
