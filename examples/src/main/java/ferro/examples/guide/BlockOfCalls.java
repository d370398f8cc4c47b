package ferro.examples.guide;

import ferro.ReduceOp;
import ferro.group.ProcessGroup;

/** Many small calls, one by one and as a block. */
final class BlockOfCalls {
    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            long single = Long.MAX_VALUE;
            long block = Long.MAX_VALUE;
            for (int step = 0; step < 500; step++) {
                long before = System.nanoTime();
                sumAll(group);
                long between = System.nanoTime();
                group.coalesced(() -> sumAll(group));
                block = Math.min(block, System.nanoTime() - between);
                single = Math.min(single, between - before);
            }
            if (group.rank() == 0) {
                System.out.println("64 calls " + single / 1000 + " us, in a block " + block / 1000 + " us");
            }
        }
    }

    private static void sumAll(ProcessGroup group) {
        for (int layer = 0; layer < 64; layer++) {
            group.allReduce(new float[] {layer, 0.5f}, ReduceOp.SUM);
        }
    }
}
