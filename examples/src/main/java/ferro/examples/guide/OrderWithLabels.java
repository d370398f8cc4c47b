package ferro.examples.guide;

import ferro.ReduceOp;
import ferro.group.ProcessGroup;

/** Labels show that ranks sum two arrays in different orders. */
final class OrderWithLabels {
    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            ProcessGroup weights = group.labelled("weights");
            ProcessGroup biases = group.labelled("biases");
            boolean weightsFirst = group.rank() == 0; // wrong: rank 1 has another order
            (weightsFirst ? weights : biases).allReduce(new float[] {3, 4}, ReduceOp.SUM);
            (weightsFirst ? biases : weights).allReduce(new float[] {5, 6}, ReduceOp.SUM);
        }
    }
}
