package ferro.lightgbm.spark;

import static java.util.Objects.requireNonNull;

import ferro.spark.FerroSpark;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * A trainer of LightGBM models on the rows of a Spark Dataset. Each partition of the Dataset is one rank. The ranks train
 * in one barrier stage, and the driver gets the model.
 *
 * {@snippet file="ferro/lightgbm/spark/example/TrainTreesOnSpark.java" region="train" :
 *
 * Dataset<Row> table = spark.range(0, rows, 1, 4) // four partitions, which become four ranks
 *         .selectExpr("array(rand(1), rand(2), rand(3)) as features")
 *         .selectExpr("features", "features[0] + features[1] * features[2] > 0.7 as label");
 * FerroSpark ranks = FerroSpark.on(spark).attempts(3).timeout(Duration.ofSeconds(60));
 * String model = LightGbmOnFerro.on(ranks)
 *         .features("features") // a Vector, or an array of numbers
 *         .label("label")
 *         .iterations(iterations)
 *         .train(table, "objective=binary num_leaves=31 verbosity=-1");
 * return model; // LightGBM's text
 * }
 *
 * <p>The runner {@link FerroSpark} has the number of ranks, the deadline of calls, the number of attempts and the ports.
 * Several ranks may be tasks of one executor. Each rank uses as many threads as its task has CPUs, unless the parameters
 * have {@code num_threads}.
 *
 * <h2>Failures</h2>
 * If an executor dies, the training ends on all ranks. The driver throws one {@link
 * ferro.spark.failure.FerroSparkException}, which names the executor, its host and its ranks. With {@link
 * FerroSpark#attempts}, the driver starts the training again from the first iteration. A model is returned only if
 * the training has ended without a failure on all ranks.
 *
 * <p>A trainer is immutable: each method that sets something returns a new trainer. Any thread may call any method.
 */
public final class LightGbmOnFerro {
    /** As many iterations as LightGBM itself makes by default. */
    private static final int ITERATIONS = 100;

    private final FerroSpark runner;
    private final TrainingColumns columns;
    private final int iterations;
    /** Null without early stopping. */
    private final EarlyStoppingRule stopping;

    private LightGbmOnFerro(FerroSpark runner, TrainingColumns columns, int iterations, EarlyStoppingRule stopping) {
        this.runner = runner;
        this.columns = columns;
        this.iterations = iterations;
        this.stopping = stopping;
    }

    /**
     * Returns a trainer for an application, with one attempt and one rank per partition.
     *
     * @param session the session of the application
     * @return a trainer of 100 iterations, for the columns {@code features} and {@code label}
     * @throws UnsupportedOperationException if Spark is older than 3.5
     * @throws IllegalArgumentException      if dynamic allocation is on
     */
    public static LightGbmOnFerro on(SparkSession session) {
        return on(FerroSpark.on(session));
    }

    /**
     * Returns a trainer that runs its ranks by a runner.
     *
     * @param runner the runner, which has the number of ranks, deadlines and the number of attempts
     * @return a trainer of 100 iterations, for the columns {@code features} and {@code label}
     */
    public static LightGbmOnFerro on(FerroSpark runner) {
        requireNonNull(runner, "runner");
        return new LightGbmOnFerro(runner, TrainingColumns.standard(), ITERATIONS, null);
    }

    /**
     * Sets the column of the features.
     *
     * @param column name of a column of MLlib's {@code Vector} or of an array of numbers; all rows have the same number
     *     of features. NaN, and null in an array, is a missing value
     * @return a trainer with this column; the default is {@code features}
     */
    public LightGbmOnFerro features(String column) {
        return with(columns.withFeatures(requireNonNull(column, "column")));
    }

    /**
     * Sets the column of the label.
     *
     * @param column name of a column of numbers or booleans; true is 1
     * @return a trainer with this column; the default is {@code label}
     */
    public LightGbmOnFerro label(String column) {
        return with(columns.withLabel(requireNonNull(column, "column")));
    }

    /**
     * Sets the column of the weight of each row. By default all rows have the weight 1. The weights of validation rows are
     * not used.
     *
     * @param column name of a column of numbers or booleans; true is 1
     * @return a trainer with this column
     */
    public LightGbmOnFerro weight(String column) {
        return with(columns.withWeight(requireNonNull(column, "column")));
    }

    /**
     * Sets the maximum number of iterations. An iteration adds one tree, or one tree per class.
     *
     * @param count number of iterations, at least 1; the default is 100
     * @return a trainer with this number of iterations
     * @throws IllegalArgumentException if the number is less than 1
     */
    public LightGbmOnFerro iterations(int count) {
        return new LightGbmOnFerro(runner, columns, atLeastOne("iterations", count), stopping);
    }

    /**
     * Ends the training when a metric has not become lower for some iterations. The model has the trees up to the best
     * iteration. The metric is the first one of the parameter {@code metric}, as a mean over the validation rows of all
     * ranks ({@link ferro.lightgbm.LightGbmBooster#metrics}).
     *
     * @param validation name of a column of booleans; true for rows that evaluate the model and do not train it. Each rank
     *     needs a validation row
     * @param count      number of iterations without a better value, at least 1
     * @return a trainer that stops early
     * @throws IllegalArgumentException if the number is less than 1
     */
    public LightGbmOnFerro stopWhenNotLower(String validation, int count) {
        return stopping(validation, count, false);
    }

    /**
     * Ends the training when a metric has not become higher for some iterations, as {@link #stopWhenNotLower} does for
     * metrics of which lower values are better.
     *
     * @param validation name of a column of booleans; true for rows that evaluate the model and do not train it. Each rank
     *     needs a validation row
     * @param count      number of iterations without a better value, at least 1
     * @return a trainer that stops early
     * @throws IllegalArgumentException if the number is less than 1
     */
    public LightGbmOnFerro stopWhenNotHigher(String validation, int count) {
        return stopping(validation, count, true);
    }

    private LightGbmOnFerro stopping(String validation, int count, boolean isHigherBetter) {
        TrainingColumns changed = columns.withValidation(requireNonNull(validation, "validation"));
        EarlyStoppingRule rule = new EarlyStoppingRule(atLeastOne("rounds", count), isHigherBetter);
        return new LightGbmOnFerro(runner, changed, iterations, rule);
    }

    private LightGbmOnFerro with(TrainingColumns changed) {
        return new LightGbmOnFerro(runner, changed, iterations, stopping);
    }

    private static int atLeastOne(String what, int count) {
        if (count < 1) {
            throw new IllegalArgumentException("need at least 1 of " + what + ", found " + count);
        }
        return count;
    }

    /**
     * Trains a model with the rows of a Dataset. Blocks until the training has ended.
     *
     * <p>Each rank reads its rows into memory, as 8 bytes per feature. After the last row, the rows need 16 bytes per feature
     * for a short time, until LightGBM has copied them into its bins. Ranks that have read their rows wait for the other
     * ranks without a deadline. The deadline of the runner holds for all calls after that.
     *
     * <p>Another attempt reads the rows again. It gives the same model if the partitions have the same rows in the same
     * order.
     *
     * @param rows       the rows; each partition needs a row
     * @param parameters LightGBM's parameters, such as {@code "objective=binary num_leaves=31"}
     * @return the model as LightGBM's text, which every version and language of LightGBM reads
     * @throws IllegalArgumentException                if a column does not exist or has another type, a parameter
     *     contradicts this trainer, or there are fewer slots than ranks
     * @throws IllegalStateException                   if the application has been stopped; Spark throws this exception
     * @throws ferro.spark.failure.FerroSparkException if the training failed; the message names the rank, or the lost
     *     executor with its ranks
     */
    public String train(Dataset<Row> rows, String parameters) {
        TrainingPlan plan = TrainingPlan.of(columns, iterations, stopping, requireNonNull(parameters, "parameters"));
        return runner.run(columns.selected(rows), new RankTraining(plan));
    }
}
