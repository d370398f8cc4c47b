package ferro.examples.guide;

import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import java.util.Arrays;

/** Ranks that sum two arrays in different orders. */
final class OrderThatDiffers {
    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            float[] weights = {1, 1};
            float[] biases = {50, 50};
            boolean weightsFirst = group.rank() == 0; // wrong: rank 1 has another order
            group.allReduce(weightsFirst ? weights : biases, ReduceOp.SUM);
            group.allReduce(weightsFirst ? biases : weights, ReduceOp.SUM);
            System.out.println("weights " + Arrays.toString(weights));
        }
    }
}
