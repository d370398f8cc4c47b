package ferro.examples.reductions;

import ferro.DataType;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import java.util.Arrays;

/**
 * A program that adds probabilities by their logarithms, because the probabilities are too small for a double. Run the
 * program with {@code ./ferro run -n 4 ferro.examples.reductions.LogSumExp}.
 *
 * <p>Each rank has the log-likelihoods of its share of the samples under three models. A sum of likelihoods such as
 * exp(-1000) is 0 in a double, but the logarithm of the sum can be computed.
 */
public final class LogSumExp {
    /**
     * The logarithm of {@code exp(a) + exp(b)}. The result has the same bits for (a, b) and (b, a), because the
     * elements of two ranks may be combined in either order.
     */
    static final ReduceOp LOG_SUM_EXP = ReduceOp.ofDoubles("log sum exp", (a, b) -> logSum(a, b));

    /** An op that returns the operand of larger magnitude. The JIT compiler vectorizes this loop over arrays. */
    static final ReduceOp LARGEST =
            ReduceOp.of("largest magnitude", DataType.FLOAT32, float[].class, (into, received, count) -> {
                for (int i = 0; i < count; i++) {
                    float magnitude = Math.max(Math.abs(into[i]), Math.abs(received[i]));
                    // for x and -x the result is positive on every rank; otherwise each rank would keep its own value
                    into[i] = Math.max(into[i], received[i]) == magnitude ? magnitude : -magnitude;
                }
            });

    private LogSumExp() {}

    private static double logSum(double a, double b) {
        double larger = Math.max(a, b);
        return larger == Double.NEGATIVE_INFINITY ? larger : larger + Math.log1p(Math.exp(-Math.abs(a - b)));
    }

    /**
     * Joins the group, combines the values of all ranks, and prints the results.
     *
     * @param arguments not used
     */
    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            double[] evidence = evidence(group);
            float[] extremes = extremes(group);
            if (group.rank() == 0) {
                System.out.printf(
                        "log of the sum over %d ranks: %s%nlargest by magnitude: %s%n",
                        group.worldSize(), Arrays.toString(evidence), Arrays.toString(extremes));
            }
        }
    }

    /** Returns the logarithm of the summed likelihoods over all ranks for each of three models. */
    static double[] evidence(ProcessGroup group) {
        double[] logs = {-1000 - group.rank(), -2000, group.rank() == 0 ? -3 : Double.NEGATIVE_INFINITY};
        group.allReduce(logs, LOG_SUM_EXP);
        return logs;
    }

    /** Returns the largest deviations by magnitude, with their signs. */
    static float[] extremes(ProcessGroup group) {
        int rank = group.rank();
        float[] deviations = {rank + 0.5f, -rank - 0.5f, rank % 2 == 0 ? 2 : -2};
        group.allReduce(deviations, LARGEST);
        return deviations;
    }
}
