package ferro.examples.guide;

import ferro.ReduceOp;
import ferro.group.ProcessGroup;

/** Makes another call on rank 1 than on rank 0, which fails on both ranks. */
final class DifferentCalls {
    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            double[] data = {group.rank() + 0.5, 3};
            if (group.rank() == 0) {
                group.allReduce(data, ReduceOp.SUM);
            } else {
                group.broadcast(data, 0); // wrong: rank 0 makes another call
            }
        }
    }
}
