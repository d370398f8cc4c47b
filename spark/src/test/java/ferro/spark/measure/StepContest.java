package ferro.spark.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.ReduceOp;
import ferro.spark.FerroSpark;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;

/**
 * The same steps by a broadcast and {@code treeAggregate}, and by an all-reduce. A row is a number. Its gradient is the
 * difference of this number and the model, so a step needs little time for computing.
 */
final class StepContest {
    private static final int ROUNDS = 4;
    private static final float RATE = 0.1f;

    private final JavaSparkContext spark;
    private final JavaRDD<Integer> rows;
    private final int partitions;

    StepContest(JavaSparkContext spark, JavaRDD<Integer> rows) {
        this.spark = spark;
        this.rows = rows;
        this.partitions = rows.getNumPartitions();
    }

    /** Runs both variants in turn. The first round is a warm-up and is not counted. */
    String line(int size, int steps) {
        List<Double> tree = new ArrayList<>();
        List<Double> group = new ArrayList<>();
        long treeBytes = 0;
        long groupBytes = 0;
        for (int round = 0; round < ROUNDS; round++) {
            TaskEnds ends = TaskEnds.of(spark);
            Steps byTree = tree(size, steps);
            treeBytes = ends.resultBytes() / steps;
            TaskEnds more = TaskEnds.of(spark);
            Steps byGroup = group(size, steps);
            groupBytes = more.resultBytes() / steps;
            assertEquals(byTree.last(), byGroup.last(), 1e-4f, "both ways train the same model");
            if (round > 0) {
                tree.addAll(byTree.millis());
                group.addAll(byGroup.millis());
            }
        }
        return String.format(
                "%,d floats: treeAggregate %.1f ms, %,d bytes to the driver; ferro %.2f ms, %,d bytes to the driver;"
                        + " ratio %.1f",
                size, median(tree), treeBytes, median(group), groupBytes, median(tree) / median(group));
    }

    static double median(List<Double> all) {
        List<Double> sorted = all.stream().sorted().toList();
        return sorted.get(sorted.size() / 2);
    }

    private Steps tree(int size, int steps) {
        int ranks = partitions;
        float[] model = new float[size];
        List<Double> millis = new ArrayList<>();
        for (int step = 0; step < steps; step++) {
            long start = System.nanoTime();
            Broadcast<float[]> now = spark.broadcast(model);
            // an empty zero value, as in MLlib, so that no array is sent with every task
            float[] sum = rows.treeAggregate(
                    new float[0], (at, row) -> withGradient(at, row, now.value()), StepContest::plus, 2);
            model = model.clone();
            move(model, sum, ranks);
            now.destroy();
            millis.add((System.nanoTime() - start) / 1e6);
        }
        return new Steps(millis, model[size - 1]);
    }

    private Steps group(int size, int steps) {
        return FerroSpark.on(spark).run(rows, (rank, own) -> {
            int row = own.next();
            int ranks = rank.group().worldSize();
            float[] model = new float[size];
            float[] gradient = new float[size];
            List<Double> millis = new ArrayList<>();
            for (int step = 0; step < steps; step++) {
                long start = System.nanoTime();
                Arrays.fill(gradient, 0);
                withGradient(gradient, row, model);
                rank.group().allReduce(gradient, ReduceOp.SUM);
                move(model, gradient, ranks);
                millis.add((System.nanoTime() - start) / 1e6);
            }
            return new Steps(millis, model[size - 1]);
        });
    }

    private static float[] withGradient(float[] sum, int row, float[] model) {
        float[] at = sum.length == 0 ? new float[model.length] : sum;
        for (int i = 0; i < at.length; i++) {
            at[i] += row - model[i];
        }
        return at;
    }

    private static float[] plus(float[] sum, float[] more) {
        if (sum.length == 0) {
            return more;
        }
        for (int i = 0; i < more.length; i++) {
            sum[i] += more[i];
        }
        return sum;
    }

    private static void move(float[] model, float[] gradient, int ranks) {
        for (int i = 0; i < model.length; i++) {
            model[i] += RATE * gradient[i] / ranks;
        }
    }

    private record Steps(List<Double> millis, float last) implements Serializable {}
}
