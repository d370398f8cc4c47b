package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.ProcessGroup;
import java.time.Duration;
import java.util.Arrays;

/** A rank that tries what a group of several hosts must do, and says who shares memory with whom. */
final class SpansHosts {
    private static final int[] COUNTS = {1, 1000, 300_001};

    private SpansHosts() {}

    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            tryEverything(group);
            System.out.println(((CollectiveBackend) group.backend()).linkReport());
        }
    }

    static void tryEverything(ProcessGroup group) {
        for (int count : COUNTS) {
            sums(group, count);
            parts(group, count);
            copies(group, count);
            messages(group, count);
            group.barrier();
        }
    }

    private static void sums(ProcessGroup group, int count) {
        float[] expected = new float[count];
        for (int rank = 0; rank < group.worldSize(); rank++) {
            float[] part = numbers(count, rank);
            for (int i = 0; i < count; i++) {
                expected[i] += part[i];
            }
        }
        float[] sum = numbers(count, group.rank());
        group.allReduce(sum, ReduceOp.SUM);
        assertArrayEquals(expected, sum);
        float[] outOfPlace = new float[count];
        HostTensor in = HostTensor.of(numbers(count, group.rank()));
        ((CollectiveBackend) group.backend())
                .run(Collective.allReduce(in, HostTensor.of(outOfPlace), ReduceOp.SUM), Duration.ofSeconds(60));
        assertArrayEquals(expected, outOfPlace);
    }

    private static void parts(ProcessGroup group, int count) {
        float[] all = new float[count * group.worldSize()];
        group.allGather(HostTensor.of(numbers(count, group.rank())), HostTensor.of(all));
        for (int rank = 0; rank < group.worldSize(); rank++) {
            assertArrayEquals(numbers(count, rank), Arrays.copyOfRange(all, rank * count, (rank + 1) * count));
        }
    }

    private static void copies(ProcessGroup group, int count) {
        for (int root = 0; root < group.worldSize(); root++) {
            float[] copy = group.rank() == root ? numbers(count, root + 7) : new float[count];
            group.broadcast(HostTensor.of(copy), root);
            assertArrayEquals(numbers(count, root + 7), copy);
        }
    }

    private static void messages(ProcessGroup group, int count) {
        int size = group.worldSize();
        float[] copy = new float[count];
        Work sending = group.sendAsync(HostTensor.of(numbers(count, group.rank())), (group.rank() + 1) % size, 3);
        int before = (group.rank() + size - 1) % size;
        group.recv(HostTensor.of(copy), before, 3);
        sending.await();
        assertArrayEquals(numbers(count, before), copy);
    }

    /** Small whole numbers, so that sums are exact in any order. */
    private static float[] numbers(int count, int start) {
        float[] made = new float[count];
        for (int i = 0; i < count; i++) {
            made[i] = (start * 37 + i) % 509 + 2;
        }
        return made;
    }
}
