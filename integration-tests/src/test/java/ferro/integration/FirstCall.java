package ferro.integration;

import ferro.ReduceOp;
import ferro.group.ProcessGroup;

/** A rank that joins and makes one call. Its log of loaded classes has {@link Joined} before the call, {@link Called} behind it. */
final class FirstCall {
    private FirstCall() {}

    static final class Joined {
        private Joined() {}

        static void mark() {}
    }

    static final class Called {
        private Called() {}

        static void mark() {}
    }

    public static void main(String[] arguments) {
        float[] sum = {3};
        try (ProcessGroup group = ProcessGroup.join()) {
            Joined.mark();
            group.allReduce(sum, ReduceOp.SUM);
            Called.mark();
            // the end of a rank must not reach another rank before that rank has marked its own call
            group.barrier();
            System.out.println("sum " + sum[0] + " by " + group.medium().text());
        }
    }
}
