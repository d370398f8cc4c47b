package ferro.examples.guide;

import ferro.ReduceOp;
import ferro.group.ProcessGroup;

/** Adds numbers in two groups of ranks at the same time. */
final class SubgroupSums {
    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            int color = group.rank() % 2; // ranks of one color form a group
            try (ProcessGroup part = group.split(color, group.rank()).orElseThrow()) {
                int[] sum = {100 + group.rank()};
                part.allReduce(sum, ReduceOp.SUM);
                System.out.println("rank " + part.rank() + " of " + part.worldSize() + ", sum " + sum[0]);
            }
        }
    }
}
