package ferro.lightgbm.spark;

import static ferro.lightgbm.spark.SampleData.RANKS;
import static ferro.lightgbm.spark.SampleData.SERIAL;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.spark.SharedSpark;
import ferro.spark.failure.FerroSparkException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests with four ranks that are tasks of one executor. */
class LightGbmOnFerroTest {
    private static final String REGRESSION = "objective=regression " + SERIAL;
    private static final int ROWS = 300;
    private static final int ITERATIONS = 6;
    private static final int PER_RANK = 5;

    private final JavaSparkContext spark = SharedSpark.context();

    private static LightGbmOnFerro trainer() {
        return LightGbmOnFerro.on(SparkSession.builder().getOrCreate()).iterations(ITERATIONS);
    }

    /** A task has one CPU, so the model also shows that LightGBM uses one thread. */
    @ParameterizedTest
    @ValueSource(strings = {"array", "vector"})
    void theModelIsThatOfTheSameRowsWithoutSpark(String featuresAs) {
        String model = trainer().train(SampleData.dataset(spark, featuresAs, ROWS), REGRESSION);

        assertEquals(SampleData.withoutSpark(ROWS, ITERATIONS, REGRESSION + " num_threads=1"), model);
        assertTrue(model.contains("Tree=" + (ITERATIONS - 1) + "\n"), model);
        assertTrue(model.contains("[num_threads: 1]"), model);
    }

    @Test
    void otherColumnNamesAndWeightsAreUsed() {
        String parameters = REGRESSION + " metric=l2 learning_rate=0.9 num_threads=2";
        Dataset<Row> renamed = SampleData.dataset(spark, "array", ROWS).toDF("f", "l", "w", "v");

        String model = LightGbmOnFerro.on(SparkSession.builder().getOrCreate())
                .features("f")
                .label("l")
                .weight("w")
                .stopWhenNotLower("v", 3)
                .train(renamed, parameters);

        assertEquals(SampleData.stoppedWithoutSpark(ROWS, 3, parameters), model);
        assertTrue(model.contains("[num_threads: 2]"), model);
    }

    /** A metric that becomes lower is not better than that of the first iteration. */
    @Test
    void aFallingMetricEndsATrainingForHigherValues() {
        Dataset<Row> rows = SampleData.dataset(spark, "array", ROWS);

        String model = trainer().stopWhenNotHigher("validates", 2).train(rows, REGRESSION + " metric=l2");

        assertTrue(model.contains("Tree=0\n"), model);
        assertFalse(model.contains("Tree=1\n"), model);
    }

    @Test
    void theFirstPartitionWithoutRowsIsNamedOnce() {
        Dataset<Row> someEmpty =
                rows((rank, row) -> rank % 2 == 0 ? RowFactory.create(new double[] {1, 2}, 3.0) : null);

        assertFails(
                someEmpty,
                "(?s).* failed on rank 1, task [0-9]+ of stage [0-9]+ on .*: IllegalArgumentException: the partition has"
                        + " no rows for training, but LightGBM needs a row on each rank: use fewer ranks"
                        + " [(]FerroSpark.ranks[)], or repartition the Dataset [(]ranks at fault: \\[1, 3\\][)]");
    }

    @Test
    void aDatasetWithoutRowsIsRefused() {
        assertFails(rows((rank, row) -> null), "(?s).* failed on rank 0, .*the partition has no rows .*");
    }

    @Test
    void ranksWithDifferentNumbersOfFeaturesAreListedIfNoNumberHasAMajority() {
        Dataset<Row> mixed = rows((rank, row) -> RowFactory.create(new double[rank % 2 == 0 ? 3 : 2], 3.0));

        assertFails(
                mixed,
                "(?s).* failed on rank 0, .*the numbers of features differ: 2 on ranks \\[1, 3\\], 3 on ranks \\[0, 2\\]");
    }

    @Test
    void aRankWhoseRowsHaveOtherFeaturesIsNamed() {
        Dataset<Row> mixed = rows((rank, row) -> RowFactory.create(new double[rank == 2 ? 3 : 2], 3.0));

        assertFails(mixed, "(?s).* failed on rank 2, .*the rows have 3 features, but those of most ranks have 2");
    }

    @Test
    void aBadRowIsNamed() {
        assertFails(
                rows((rank, row) -> RowFactory.create(new double[2], rank == 1 && row == 3 ? null : 3.0)),
                "(?s).* failed on rank 1, .*row 3 of rank 1: column label is null");
        assertFails(
                rows((rank, row) -> RowFactory.create(rank == 3 && row == 2 ? null : new double[2], 3.0)),
                "(?s).* failed on rank 3, .*row 2 of rank 3: column features is null");
        assertFails(
                rows((rank, row) -> RowFactory.create(new double[rank == 0 && row == 4 ? 3 : 2], 3.0)),
                "(?s).* failed on rank 0, .*row 4 of rank 0: column features has 3 features, but the rows before it have"
                        + " 2");
    }

    @Test
    void aRankWithoutValidationRowsIsNamed() {
        Dataset<Row> rows = SampleData.dataset(spark, "array", 1).selectExpr("features", "label", "false as v");

        assertFails(
                () -> trainer().stopWhenNotHigher("v", 2).train(rows, REGRESSION),
                "(?s).* failed on rank 0, .*no row whose column v is true.*");
    }

    @Test
    void earlyStoppingWithoutAMetricIsRefused() {
        Dataset<Row> rows = SampleData.dataset(spark, "array", 40);

        assertFails(
                () -> trainer().stopWhenNotLower("validates", 2).train(rows, REGRESSION + " metric=none"),
                "(?s).*these parameters name none: " + REGRESSION + " metric=none.*");
    }

    @Test
    void anErrorOfLightGbmIsReportedWithItsText() {
        assertFails(
                () -> trainer().train(SampleData.dataset(spark, "array", 40), "objective=none_such verbosity=-1"),
                "(?s).*NATIVE: .*Unknown objective type name: none_such.*");
    }

    @Test
    void parametersAndColumnsThatCannotWorkAreRefusedBeforeAJob() {
        Dataset<Row> rows = SampleData.dataset(spark, "array", 10);

        assertRefused(
                "num_trees=7 has no effect here: remove it and call .iterations(n)",
                () -> trainer().train(rows, "objective=binary num_trees=7"));
        assertRefused(
                "early_stopping_round=2 has no effect here: remove it and call .stop",
                () -> trainer().train(rows, "early_stopping_round=2"));
        assertRefused(
                "column label has the type double: the features need a Vector",
                () -> trainer().features("label").train(rows, REGRESSION));
        assertRefused("need at least 1 of iterations, found 0", () -> trainer().iterations(0));
        assertRefused("need at least 1 of rounds, found 0", () -> trainer().stopWhenNotLower("validates", 0));
    }

    /** Spark would cast the texts to null, or fail in a task. */
    @Test
    void columnsOfTextsAreRefusedBeforeAJob() {
        Dataset<Row> rows = SampleData.dataset(spark, "array", 10)
                .selectExpr("*", "'one' as text", "transform(features, each -> 'one') as texts", "1 as one");

        assertRefused(
                "column texts has the type array<string>: the features need a Vector, which VectorAssembler makes, or an"
                        + " array of numbers",
                () -> trainer().features("texts").train(rows, REGRESSION));
        assertRefused(
                "column text has the type string: the label needs a number or a boolean",
                () -> trainer().label("text").train(rows, REGRESSION));
        assertRefused(
                "column text has the type string: the weight needs a number or a boolean",
                () -> trainer().weight("text").train(rows, REGRESSION));
        assertRefused(
                "column one has the type int: the validation column needs a boolean",
                () -> trainer().stopWhenNotLower("one", 2).train(rows, REGRESSION));
    }

    @Test
    void columnsThatDoNotExistAreRefusedBeforeAJob() {
        Dataset<Row> rows = SampleData.dataset(spark, "array", 10);

        assertRefused(
                "the Dataset has no column none, or several: ",
                () -> trainer().features("none").train(rows, REGRESSION));
        assertRefused(
                "the Dataset has no column label, or several: ",
                () -> trainer().train(rows.selectExpr("*", "0.5 as label"), REGRESSION));
    }

    private static void assertRefused(String text, Runnable call) {
        IllegalArgumentException refused = assertThrows(IllegalArgumentException.class, call::run);
        assertTrue(refused.getMessage().contains(text), refused.getMessage());
    }

    private static void assertFails(Dataset<Row> rows, String pattern) {
        assertFails(() -> trainer().train(rows, REGRESSION), pattern);
    }

    private static void assertFails(Executable training, String pattern) {
        FerroSparkException failure = assertThrows(FerroSparkException.class, training);
        assertTrue(failure.getMessage().matches(pattern), failure.getMessage());
    }

    private interface RowMaker {
        Row make(int rank, int row);
    }

    /** Returns a Dataset of features and a label, with five rows per rank. A null makes no row. */
    private Dataset<Row> rows(RowMaker maker) {
        List<Row> all = new ArrayList<>();
        for (int at = 0; at < RANKS * PER_RANK; at++) {
            all.add(maker.make(at / PER_RANK, at % PER_RANK));
        }
        StructField[] fields = SampleData.schema("array").fields();
        return SparkSession.builder()
                .getOrCreate()
                .createDataFrame(
                        spark.parallelize(all, RANKS).filter(Objects::nonNull),
                        new StructType(new StructField[] {fields[0], fields[1]}));
    }
}
