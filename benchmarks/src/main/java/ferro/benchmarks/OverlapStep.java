package ferro.benchmarks;

import ferro.Allocation;
import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.training.BucketLayout;
import ferro.training.GradientBuckets;
import ferro.training.Parameter;
import java.nio.FloatBuffer;
import java.util.List;

/** The parts of a training step with buckets of one size. Only one thread may use an object. */
final class OverlapStep implements AutoCloseable {
    /** Number of parts that {@link #parts} returns. */
    static final int PARTS = 4;

    private final GradientBuckets buckets;
    private final Allocation flat;
    private final HostTensor last;
    private final ProcessGroup group;
    private final long bucketBytes;
    private final int layers;
    private final int first;

    private OverlapStep(ProcessGroup group, GradientBuckets buckets, long bucketBytes, Allocation flat) {
        this.group = group;
        this.buckets = buckets;
        this.bucketBytes = bucketBytes;
        this.flat = flat;
        BucketLayout layout = buckets.layout();
        layers = layout.parameters().size();
        first = layout.buckets().get(0).members().size();
        last = buckets.bucket(layout.buckets().size() - 1);
    }

    /** Makes the buckets. Every rank must call this method. */
    static OverlapStep of(ProcessGroup group, List<Parameter> layers, long bucketBytes) {
        GradientBuckets buckets = GradientBuckets.builder(group)
                .parameters(layers)
                .settings(OverlapRequest.settings(bucketBytes))
                .build();
        long elements = layers.stream().mapToLong(Parameter::elementCount).sum();
        return new OverlapStep(group, buckets, bucketBytes, group.allocate(DataType.FLOAT32, elements));
    }

    long bucketBytes() {
        return bucketBytes;
    }

    /**
     * Returns four parts, in the order of a row's times. The parts are all buckets, computing until the first bucket,
     * the last bucket, and the step.
     */
    List<Runnable> parts(LayerComputation computing) {
        return List.of(this::communicate, () -> computing.layers(first), this::lastBucket, () -> step(computing));
    }

    void compute(LayerComputation computing) {
        computing.layers(layers);
    }

    /** Averages the gradients of all buckets at once. */
    void communicate() {
        for (int layer = layers - 1; layer >= 0; layer--) {
            buckets.ready(layer);
        }
        buckets.finish();
    }

    /** Makes one all-reduce of as many elements as the last bucket has. The values of the elements do not matter. */
    private void lastBucket() {
        buckets.group().allReduce(last, ReduceOp.AVG);
    }

    /** Computes all layers, and starts to average each bucket as soon as its last gradient is computed. */
    private void step(LayerComputation computing) {
        computing.begin();
        for (int layer = layers - 1; layer >= 0; layer--) {
            computing.layer();
            buckets.ready(layer);
        }
        buckets.finish();
    }

    /** Computes all layers, and then averages all gradients in one all-reduce. */
    void flat(LayerComputation computing) {
        computing.layers(layers);
        group.allReduce(flat.tensor(), ReduceOp.AVG);
    }

    /** Averages layers that differ by rank. Returns how many elements of this rank are not the average. */
    long wrongElements() {
        for (int layer = 0; layer < layers; layer++) {
            FloatBuffer gradient = buckets.gradient(layer).buffer().asFloatBuffer();
            for (int element = 0; element < gradient.limit(); element++) {
                gradient.put(element, (group.rank() + 1) * (layer + 1 + element % 7));
            }
        }
        communicate();
        long wrong = 0;
        int sumOfRanks = group.worldSize() * (group.worldSize() + 1) / 2;
        for (int layer = 0; layer < layers; layer++) {
            FloatBuffer average = buckets.gradient(layer).buffer().asFloatBuffer();
            for (int element = 0; element < average.limit(); element++) {
                // whole numbers that a float holds exactly, so that one division rounds once
                float expected = (float) (sumOfRanks * (layer + 1 + element % 7)) / group.worldSize();
                wrong += average.get(element) == expected ? 0 : 1;
            }
        }
        return wrong;
    }

    @Override
    public void close() {
        flat.close();
        buckets.close();
    }
}
