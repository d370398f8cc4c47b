package ferro.spark.example;

import java.util.Iterator;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * Rows of random features. The label of a row depends on a sum of its features, with noise. The rows are the same for
 * every number of partitions.
 */
public final class NoisyRows {
    private NoisyRows() {}

    public static JavaRDD<double[]> of(JavaSparkContext spark, int count, int features, int partitions) {
        return spark.parallelize(IntStream.range(0, count).boxed().toList(), partitions)
                .mapPartitions(numbers -> rows(numbers, features));
    }

    private static Iterator<double[]> rows(Iterator<Integer> numbers, int features) {
        return new Iterator<>() {
            @Override
            public boolean hasNext() {
                return numbers.hasNext();
            }

            @Override
            public double[] next() {
                return row(new Random(numbers.next()), features);
            }
        };
    }

    private static double[] row(Random random, int features) {
        double[] row = new double[features + 1];
        double margin = 0.3;
        for (int i = 0; i < features; i++) {
            row[i] = random.nextGaussian();
            margin += row[i] * (i % 3 - 1 + 0.25);
        }
        row[features] = random.nextDouble() < 1 / (1 + Math.exp(-margin)) ? 1 : 0;
        return row;
    }
}
