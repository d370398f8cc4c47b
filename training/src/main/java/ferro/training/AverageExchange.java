package ferro.training;

import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.ProcessGroup;
import java.nio.Buffer;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;

/**
 * Averages a bucket in place. The exchange uses an all-reduce, or a reduce-scatter that gives each rank its part.
 *
 * <p>If all ranks have data, the collective computes the average. If some ranks have run out of data, the collective
 * computes the sum, and each rank divides its result by the number of ranks that have data. So the division rounds the
 * result once. An average over all ranks that is scaled later would be rounded twice.
 */
final class AverageExchange implements GradientHook.Exchange {
    static final GradientHook HOOK = AverageExchange::new;

    private final ProcessGroup group;
    private final HostTensor full;
    private final HostTensor result;
    private final ElementDivider quotients;

    private AverageExchange(GradientHook.SentBucket bucket) {
        group = bucket.group();
        full = bucket.gradients();
        result = bucket.sharded() ? bucket.ownPart(full) : full;
        quotients = ElementDivider.of(result);
    }

    @Override
    public Work start(int contributors) {
        return start(group, full, result, contributors);
    }

    @Override
    public void finish(int contributors) {
        if (contributors < group.worldSize()) {
            quotients.divideBy(contributors);
        }
    }

    /** Starts an average over all ranks, or a sum if a rank has no data. The result is the whole tensor or a part. */
    static Work start(ProcessGroup group, HostTensor fullTensor, HostTensor result, int contributors) {
        ReduceOp op = contributors < group.worldSize() ? ReduceOp.SUM : ReduceOp.AVG;
        return result == fullTensor
                ? group.allReduceAsync(fullTensor, op)
                : group.reduceScatterAsync(fullTensor, result, op);
    }

    /**
     * Divides each element of a tensor in direct memory, with one rounding. This object keeps its view of the tensor,
     * so that a step creates no view.
     */
    interface ElementDivider {
        void divideBy(int divisor);

        static ElementDivider of(HostTensor values) {
            Buffer view = values.dataType().carrier().view(values.buffer());
            if (view instanceof DoubleBuffer doubles) {
                return divisor -> {
                    for (int i = 0; i < doubles.limit(); i++) {
                        doubles.put(i, doubles.get(i) / divisor);
                    }
                };
            }
            FloatBuffer floats = (FloatBuffer) view;
            return divisor -> {
                for (int i = 0; i < floats.limit(); i++) {
                    floats.put(i, floats.get(i) / divisor);
                }
            };
        }
    }
}
