package ferro.spark.example;

import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.spark.FerroSpark;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.JavaRDD;

/**
 * Logistic regression with an intercept and a penalty on the squares of the weights. Each rank keeps its rows in
 * memory. Each rank computes the part of the loss and of the gradient that belongs to its rows. One all-reduce per
 * evaluation adds these parts. The sums have the same bits on all ranks, so each rank takes the same steps. Nothing is
 * sent to a driver between the steps.
 */
public final class LogisticRegressionByGroup implements Serializable {
    private static final long serialVersionUID = 1;
    private static final int MAX_STEPS = 500;

    private final int features;
    private final double penalty;
    private final double tolerance;

    /**
     * Creates a regression.
     *
     * @param features  the number of features of a row
     * @param penalty   the factor of the penalty; half of this factor times the sum of the squared weights is added to
     *     the mean loss; the intercept has no penalty
     * @param tolerance the largest absolute value that a component of the gradient may have at the end
     */
    public LogisticRegressionByGroup(int features, double penalty, double tolerance) {
        this.features = features;
        this.penalty = penalty;
        this.tolerance = tolerance;
    }

    /**
     * Trains the model on all ranks.
     *
     * @param spark the runner
     * @param rows  the rows; each row has the features and then its label, 0 or 1
     * @return the weights and then the intercept
     */
    public double[] train(FerroSpark spark, JavaRDD<double[]> rows) {
        return spark.run(rows, (rank, own) -> trainRank(rank.group(), own));
    }

    /** Trains the model on one rank with the rows of this rank. Returns the same weights as {@link #train}. */
    double[] trainRank(ProcessGroup group, Iterator<double[]> own) {
        List<double[]> rows = new ArrayList<>();
        own.forEachRemaining(rows::add);
        double[] count = {rows.size()};
        group.allReduce(count, ReduceOp.SUM);
        double[] sums = new double[features + 2]; // the sums of the gradient, and then the sum of the loss
        LimitedMemoryBfgs.Function loss = (point, gradient) -> {
            sum(rows, point, sums);
            group.allReduce(sums, ReduceOp.SUM);
            double value = sums[features + 1] / count[0];
            for (int i = 0; i <= features; i++) {
                double pull = i < features ? penalty * point[i] : 0;
                gradient[i] = sums[i] / count[0] + pull;
                value += pull * point[i] / 2;
            }
            return value;
        };
        return LimitedMemoryBfgs.minimum(loss, features + 1, MAX_STEPS, tolerance);
    }

    private void sum(List<double[]> rows, double[] point, double[] sums) {
        Arrays.fill(sums, 0);
        for (double[] row : rows) {
            double margin = point[features];
            for (int i = 0; i < features; i++) {
                margin += row[i] * point[i];
            }
            double signed = row[features] > 0 ? margin : -margin;
            // this form does not overflow if the margin is large
            sums[features + 1] += Math.max(0, -signed) + Math.log1p(Math.exp(-Math.abs(signed)));
            double error = 1 / (1 + Math.exp(-margin)) - row[features];
            for (int i = 0; i < features; i++) {
                sums[i] += error * row[i];
            }
            sums[features] += error;
        }
    }
}
