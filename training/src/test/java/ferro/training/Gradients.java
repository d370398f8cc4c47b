package ferro.training;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import ferro.DataType;
import ferro.HostTensor;
import ferro.group.ProcessGroup;
import ferro.harness.Medium;
import ferro.harness.Ranks;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;

/** Parameters of tests, and gradients for them that depend on parameter, rank and step. */
public final class Gradients {
    /** Of both types, of odd lengths, and enough for several buckets of {@link #SETTINGS}. */
    public static final List<Parameter> PARAMETERS = List.of(
            Parameter.of("embedding", DataType.FLOAT32, 7, 31),
            Parameter.of("scale", DataType.FLOAT64, 3),
            Parameter.of("dense.weight", DataType.FLOAT32, 40, 20),
            Parameter.of("dense.bias", DataType.FLOAT32, 20),
            Parameter.of("mix", DataType.FLOAT64, 5, 9),
            Parameter.of("out.weight", DataType.FLOAT32, 11, 3),
            Parameter.of("out.bias", DataType.FLOAT32));

    public static final BucketSettings SETTINGS = BucketSettings.DEFAULT.withBytes(64, 1024);

    private Gradients() {}

    /** An element whose sums over a few ranks are exact, so that an average is rounded once, whatever the order. */
    public static double exact(int parameter, long element, int rank, int step) {
        return ((parameter + 1) * 37 + element % 113 * 5 + (rank + 1) * 11 + step * 3) % 1024 - 300;
    }

    /** An element that makes sums round. */
    public static double random(int parameter, long element, int rank, int step) {
        return new Random((parameter * 1000L + element) * 1000 + rank * 100L + step).nextGaussian();
    }

    /** Gives an element of a gradient. */
    @FunctionalInterface
    public interface Element {
        double of(int parameter, long element, int rank, int step);
    }

    public static void fill(HostTensor gradient, int parameter, int rank, int step, Element element) {
        for (long index = 0; index < gradient.elementCount(); index++) {
            double value = element.of(parameter, index, rank, step);
            if (gradient.dataType() == DataType.FLOAT64) {
                gradient.setDouble(index, value);
            } else {
                gradient.setFloat(index, (float) value);
            }
        }
    }

    /** Returns the elements of a tensor of f32 or f64. */
    public static double[] values(HostTensor tensor) {
        double[] values = new double[(int) tensor.elementCount()];
        for (int index = 0; index < values.length; index++) {
            values[index] = tensor.dataType() == DataType.FLOAT64 ? tensor.getDouble(index) : tensor.getFloat(index);
        }
        return values;
    }

    /** Returns the average of {@link #exact} over some ranks, rounded to the type of the parameter. */
    public static double[] averages(int parameter, int step, List<Integer> ranks) {
        return averages(PARAMETERS.get(parameter), parameter, step, ranks, ranks.size());
    }

    /** Returns the average of {@link #exact} over all ranks, of which only some have a gradient, and the others zeros. */
    public static double[] averages(Parameter of, int parameter, int step, List<Integer> ranks, int worldSize) {
        double[] averages = new double[(int) of.elementCount()];
        for (int index = 0; index < averages.length; index++) {
            double sum = 0;
            for (int rank : ranks) {
                sum += exact(parameter, index, rank, step);
            }
            averages[index] = of.dataType() == DataType.FLOAT64 ? sum / worldSize : (float) sum / worldSize;
        }
        return averages;
    }

    static GradientBucketsBuilder buckets(ProcessGroup group) {
        return GradientBuckets.builder(group).parameters(PARAMETERS).settings(SETTINGS);
    }

    /** Runs something with buckets of {@link #PARAMETERS} on each of as many ranks. */
    static void each(Medium medium, int worldSize, BiConsumer<ProcessGroup, GradientBuckets> code) {
        Ranks.each(medium, worldSize, group -> {
            try (GradientBuckets buckets = buckets(group).build()) {
                code.accept(group, buckets);
            }
        });
    }

    /** Fails unless all gradients are averages over the ranks that had data in a step. */
    static void assertAverages(GradientBuckets buckets, int step, List<Integer> withData) {
        for (int parameter = 0; parameter < PARAMETERS.size(); parameter++) {
            assertArrayEquals(averages(parameter, step, withData), values(buckets.gradient(parameter)));
        }
    }

    /** Computes all gradients into the buckets, and says that they are ready, in an order of its own. */
    public static void compute(GradientBuckets buckets, int step, Element element, Random order) {
        List<Integer> parameters =
                new ArrayList<>(IntStream.range(0, PARAMETERS.size()).boxed().toList());
        Collections.shuffle(parameters, order);
        for (int parameter : parameters) {
            fill(buckets.gradient(parameter), parameter, buckets.group().rank(), step, element);
            buckets.ready(parameter);
        }
    }
}
