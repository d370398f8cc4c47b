package ferro.training.optimizer;

import ferro.Allocation;
import ferro.DataType;
import ferro.HostTensor;
import ferro.Work;
import ferro.group.ProcessGroup;
import ferro.training.BucketLayout.Bucket;
import ferro.training.GradientBuckets;
import ferro.training.Parameter;
import ferro.training.checkpoint.StateSlice;
import java.util.ArrayList;
import java.util.List;

/**
 * A bucket of parameters, and the update of this rank's elements in the bucket. If the buckets are sharded, a rank's
 * elements are its part of the bucket without padding. If the buckets are not sharded, each rank updates all used
 * elements.
 *
 * <p>One thread at a time may use a share.
 */
final class BucketUpdater implements AutoCloseable {
    private final Bucket bucket;
    private final long partLength;
    private final Allocation memory;
    private final HostTensor parameters;
    private final HostTensor ownPart;
    private final BlockBuffer gradients;
    private final long from;
    private final long to;
    private final List<String> stateNames;
    private final List<HostTensor> state = new ArrayList<>();
    private final ParameterUpdater updater;
    private Work gathering;

    /** Allocates the memory of a bucket. This is a collective call if the buckets are sharded. */
    BucketUpdater(GradientBuckets buckets, int index, UpdateRule rule) {
        bucket = buckets.layout().buckets().get(index);
        ProcessGroup group = buckets.group();
        partLength = bucket.elementCount() / group.worldSize();
        memory = buckets.isSharded() ? group.allocate(bucket.dataType(), bucket.elementCount()) : null;
        parameters = memory != null ? memory.tensor() : HostTensor.allocate(bucket.dataType(), bucket.elementCount());
        ownPart = parameters.slice(partLength * group.rank(), partLength);
        gradients = BlockBuffer.of(buckets.bucket(index));
        from = memory != null ? begin(group.rank()) : 0;
        to = memory != null ? end(group.rank()) : bucket.usedCount();
        stateNames = rule.stateNames();
        stateNames.forEach(name -> state.add(zeros(bucket.dataType(), (int) (to - from))));
        updater = ParameterUpdater.of(
                rule, parameters.slice(from, to - from), buckets.bucket(index).slice(from, to - from), state);
    }

    private static HostTensor zeros(DataType type, int count) {
        return HostTensor.ofArray(type, type.carrier().newArray(count), 0, count);
    }

    /** Returns the index of a rank's first element, or the number of used elements if the part is only padding. */
    private long begin(int rank) {
        return Math.min(partLength * rank, bucket.usedCount());
    }

    /** Returns the index after the last used element in the part of a rank. */
    private long end(int rank) {
        return begin(rank + 1);
    }

    /** Returns the elements of a parameter that begins at {@code offset} in the bucket. */
    HostTensor parameter(Parameter parameter, long offset) {
        return parameters.slice(offset, parameter.elementCount());
    }

    /** Returns the state of this rank's elements of a parameter; empty if this rank has no element of the parameter. */
    List<StateSlice> state(Parameter parameter, long offset) {
        long first = Math.max(from, offset);
        long count = Math.min(to, offset + parameter.elementCount()) - first;
        List<StateSlice> slices = new ArrayList<>();
        for (int i = 0; i < state.size() && count > 0; i++) {
            HostTensor values = state.get(i).slice(first - from, count);
            slices.add(StateSlice.of(stateNames.get(i), parameter.name(), first - offset, values));
        }
        return slices;
    }

    void update(long step, double rate) {
        updater.update(0, to - from, step, rate);
    }

    /** Starts to gather the parts of all ranks. */
    void startGathering(ProcessGroup group) {
        gathering = group.allGatherAsync(ownPart, parameters);
    }

    void awaitGathered() {
        gathering.await();
        gathering = null;
    }

    /**
     * Returns the sum of the squares of the gradients in a rank's part, in double. The order of the additions depends
     * only on the part.
     */
    double squares(int rank) {
        double sum = 0;
        int end = (int) end(rank);
        for (int at = (int) begin(rank); at < end; at += BlockBuffer.LENGTH) {
            int count = Math.min(BlockBuffer.LENGTH, end - at);
            gradients.read(at, count);
            sum += gradients.squares(count);
        }
        return sum;
    }

    /** Multiplies this rank's gradients by a factor. */
    void scaleGradients(double factor) {
        for (int at = (int) from; at < to; at += BlockBuffer.LENGTH) {
            int count = (int) Math.min(BlockBuffer.LENGTH, to - at);
            gradients.read(at, count);
            gradients.scale(factor, count);
            gradients.write(at, count);
        }
    }

    @Override
    public void close() {
        if (memory != null) {
            memory.close();
        }
    }
}
