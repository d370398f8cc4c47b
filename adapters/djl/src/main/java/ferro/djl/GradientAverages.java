package ferro.djl;

import ferro.Allocation;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.ProcessGroup;
import ferro.training.BucketLayout;
import ferro.training.BucketSettings;
import ferro.training.Parameter;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.stream.IntStream;

/** Averages gradients over all ranks, in buckets that leave in one order on all of them as soon as they are full. One thread. */
final class GradientAverages implements AutoCloseable {
    private final ProcessGroup group;
    private final BucketLayout layout;
    private final List<Allocation> buckets = new ArrayList<>();
    private final List<Work> works = new ArrayList<>();
    private final BitSet ready = new BitSet();

    /** Collective: makes a group of its own. */
    GradientAverages(ProcessGroup world, List<Parameter> parameters, BucketSettings settings) {
        layout = BucketLayout.of(parameters, settings, world.worldSize());
        group = world.newGroup(IntStream.range(0, world.worldSize()).toArray());
        for (BucketLayout.Bucket bucket : layout.buckets()) {
            buckets.add(group.allocate(bucket.dataType(), bucket.elementCount()));
        }
    }

    /** Returns where the gradient of a parameter is put, and its average found after {@link #finish}. */
    HostTensor gradient(int parameter) {
        long count = layout.parameters().get(parameter).elementCount();
        return buckets.get(layout.bucketOf(parameter)).tensor().slice(layout.offsetOf(parameter), count);
    }

    boolean isReady(int parameter) {
        return ready.get(parameter);
    }

    /** Takes a gradient as complete. */
    void ready(int parameter) {
        ready.set(parameter);
        while (works.size() < buckets.size()
                && layout.buckets().get(works.size()).members().stream().allMatch(ready::get)) {
            works.add(group.allReduceAsync(buckets.get(works.size()).tensor(), ReduceOp.AVG));
        }
    }

    /** Waits for all averages; all gradients are ready. */
    void finish() {
        works.forEach(Work::await);
        works.clear();
        ready.clear();
    }

    @Override
    public void close() {
        group.close();
    }
}
