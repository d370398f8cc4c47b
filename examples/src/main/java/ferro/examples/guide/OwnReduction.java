package ferro.examples.guide;

import ferro.ReduceOp;
import ferro.group.ProcessGroup;

/** Finds the numbers of largest magnitude, with their signs, by a reduction of its own. */
final class OwnReduction {
    private static final ReduceOp LARGEST = ReduceOp.ofDoubles("largest magnitude", (a, b) -> {
        double magnitude = Math.max(Math.abs(a), Math.abs(b));
        return Math.max(a, b) == magnitude ? magnitude : -magnitude; // 2 for (2, -2) and for (-2, 2)
    });

    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            double[] errors = {group.rank() - 1.5, group.rank() % 2 == 0 ? 2 : -2};
            group.allReduce(errors, LARGEST);
            System.out.println("largest errors " + errors[0] + " and " + errors[1]);
        }
    }
}
