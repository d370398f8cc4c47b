package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.harness.Ranks;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Part r of an all-reduce has the bits of a reduce-scatter on rank r, also between hosts and in memory that ranks share. */
@Tag("long")
@Timeout(120)
class OneOrderTest {
    private static final List<ReduceOp> OPS = List.of(ReduceOp.SUM, ReduceOp.AVG, ReduceOp.preMultipliedSum(0.3));
    private static final int[] PARTS = {1, 7, 300, 5000, 70_000, 300_000};

    @ParameterizedTest
    @ValueSource(strings = {"a a b", "a a b b", "a b a b a", "a b c c", "a a a b b", "a a b b c c"})
    void reduceScatterHasTheBitsOfAllReduceBetweenHosts(String hosts) {
        try (Ranks ranks = Ranks.onHosts(hosts.split(" "))) {
            ranks.each(group -> {
                for (int part : PARTS) {
                    for (ReduceOp op : OPS) {
                        float[] all = operand(group, part);
                        float[] own = scattered(group, all, op);
                        group.allReduce(all, op);
                        assertAlike(group, all, own, op);
                    }
                }
            });
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4, 5})
    void reduceScatterHasTheBitsOfAllReduceInSharedMemory(int worldSize) {
        Ranks.each("shm", worldSize, group -> {
            for (int part : PARTS) {
                HostTensor shared = group.allocate(DataType.FLOAT32, (long) part * worldSize)
                        .tensor();
                for (ReduceOp op : OPS) {
                    float[] all = operand(group, part);
                    float[] own = scattered(group, all, op);
                    ByteBuffer memory = (ByteBuffer) shared.memory();
                    memory.asFloatBuffer().put(all);
                    group.allReduce(shared, op);
                    memory.asFloatBuffer().get(all);
                    assertAlike(group, all, own, op);
                }
            }
        });
    }

    private static float[] operand(ProcessGroup group, int part) {
        SplittableRandom random = new SplittableRandom(31L * group.rank() + part);
        float[] data = new float[part * group.worldSize()];
        for (int i = 0; i < data.length; i++) {
            // of 32 magnitudes, so that the bits of a sum depend on its order
            data[i] = Math.scalb(1 + (float) random.nextDouble(), random.nextInt(32) - 16);
        }
        return data;
    }

    private static float[] scattered(ProcessGroup group, float[] all, ReduceOp op) {
        float[] own = new float[all.length / group.worldSize()];
        group.reduceScatter(all, own, op);
        return own;
    }

    private static void assertAlike(ProcessGroup group, float[] all, float[] own, ReduceOp op) {
        int first = group.rank() * own.length;
        assertEquals(
                -1,
                Arrays.mismatch(all, first, first + own.length, own, 0, own.length),
                () -> "first element that differs, of " + own.length + " on rank " + group.rank() + " by " + op.name());
    }
}
