package ferro.examples.guide;

import ferro.Allocation;
import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Tensor;
import ferro.group.ProcessGroup;

/** An all-reduce on an array and on memory that the ranks share. */
final class MemoryOfTheGroup {
    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join();
                Allocation shared = group.allocate(DataType.FLOAT32, 1_000_000)) {
            long array = best(group, HostTensor.of(new float[1_000_000]));
            long memory = best(group, shared.tensor());
            if (group.rank() == 0) {
                System.out.println("array " + array / 1000 + " us, memory of the group " + memory / 1000 + " us");
            }
        }
    }

    private static long best(ProcessGroup group, Tensor tensor) {
        long best = Long.MAX_VALUE;
        for (int step = 0; step < 200; step++) {
            group.barrier();
            long before = System.nanoTime();
            group.allReduce(tensor, ReduceOp.SUM);
            best = Math.min(best, System.nanoTime() - before);
        }
        return best;
    }
}
