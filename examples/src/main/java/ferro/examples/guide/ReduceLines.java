package ferro.examples.guide;

import ferro.ReduceOp;
import ferro.group.ProcessGroup;

/** Adds one number of each rank, first on rank 0 and then on all ranks. */
final class ReduceLines {
    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            long[] lines = {1000 * (group.rank() + 1)};
            group.reduce(lines, ReduceOp.SUM, 0); // only rank 0 gets the sum
            System.out.println("after reduce " + lines[0]);
            lines[0] = 1000 * (group.rank() + 1);
            group.allReduce(lines, ReduceOp.SUM); // every rank gets the sum
            System.out.println("after all-reduce " + lines[0]);
        }
    }
}
