package ferro.training;

import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.ProcessGroup;
import java.nio.Buffer;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;

/**
 * Averages a bucket where it lies: by an all-reduce, or by a reduce-scatter of which each rank gets its part.
 *
 * <p>Where all ranks have data the call divides. Where some have run out it adds, and each rank divides what it got once, by the
 * number of those with data: an average over all ranks that is scaled afterwards would be rounded twice.
 */
final class AverageExchange implements GradientHook.Exchange {
    static final GradientHook HOOK = AverageExchange::new;

    private final ProcessGroup group;
    private final HostTensor whole;
    private final HostTensor result;
    private final Quotients quotients;

    private AverageExchange(GradientHook.SentBucket bucket) {
        group = bucket.group();
        whole = bucket.gradients();
        result = bucket.sharded() ? bucket.ownPart(whole) : whole;
        quotients = Quotients.of(result);
    }

    @Override
    public Work start(int contributors) {
        return start(group, whole, result, contributors);
    }

    @Override
    public void finish(int contributors) {
        if (contributors < group.worldSize()) {
            quotients.divideBy(contributors);
        }
    }

    /** Starts an average over all ranks, or a sum if some have no data; the result is the whole tensor or a part of it. */
    static Work start(ProcessGroup group, HostTensor whole, HostTensor result, int contributors) {
        ReduceOp op = contributors < group.worldSize() ? ReduceOp.SUM : ReduceOp.AVG;
        return result == whole ? group.allReduceAsync(whole, op) : group.reduceScatterAsync(whole, result, op);
    }

    /** Divides each element of a tensor in direct memory, with one rounding; keeps its view, so that a step makes none. */
    interface Quotients {
        void divideBy(int divisor);

        static Quotients of(HostTensor values) {
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
