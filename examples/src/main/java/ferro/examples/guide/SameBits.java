package ferro.examples.guide;

import ferro.ReduceOp;
import ferro.group.ProcessGroup;

/** The sum of all ranks has the same bits on all ranks, and other bits than a loop in another order. */
final class SameBits {
    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            float[] parts = {1e8f, 1, -1e8f};
            float[] sum = {parts[group.rank()]};
            group.allReduce(sum, ReduceOp.SUM);
            System.out.println("sum " + sum[0] + ", bits " + Integer.toHexString(Float.floatToIntBits(sum[0])));
        }
    }
}
