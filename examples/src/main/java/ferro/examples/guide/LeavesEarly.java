package ferro.examples.guide;

import ferro.ReduceOp;
import ferro.group.ProcessGroup;

/** A rank that makes fewer calls than the others. */
final class LeavesEarly {
    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            int batches = group.rank() == 1 ? 2 : 3; // wrong: rank 1 has fewer batches
            for (int batch = 0; batch < batches; batch++) {
                group.allReduce(new float[] {batch + 0.5f}, ReduceOp.SUM);
            }
        }
    }
}
