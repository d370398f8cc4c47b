package ferro.examples.guide;

import ferro.ReduceOp;
import ferro.group.ProcessGroup;

/** Ranks whose arrays have different lengths. */
final class RowsThatDiffer {
    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            int rows = group.rank() == 1 ? 5 : 4; // wrong: the file of rank 1 has one row more
            group.allReduce(new double[rows], ReduceOp.SUM);
        }
    }
}
