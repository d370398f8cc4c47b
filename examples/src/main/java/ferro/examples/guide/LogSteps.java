package ferro.examples.guide;

import ferro.ReduceOp;
import ferro.group.ProcessGroup;

/** Logs a line on each rank. */
final class LogSteps {
    private static final System.Logger LOG = System.getLogger("LogSteps");

    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            int[] sum = {group.rank() + 1};
            group.allReduce(sum, ReduceOp.SUM);
            LOG.log(System.Logger.Level.INFO, "sum {0}", sum[0]);
        }
    }
}
