package ferro.examples.guide;

import ferro.CallCounters;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;

/** Prints how many calls a rank has made, their bytes and their time. */
final class CountCalls {
    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            float[] gradient = new float[1000];
            ProcessGroup weight = group.labelled("dense2.weight"); // once, and kept
            for (int step = 0; step < 20; step++) {
                weight.allReduce(gradient, ReduceOp.AVG);
            }
            CallCounters before = group.counters();
            group.broadcast(gradient, 0);
            if (group.rank() == 0) {
                System.out.print(group.counters());
                System.out.println("bytes since then: "
                        + group.counters().minus(before).all().bytes());
            }
        }
    }
}
