package ferro.spark.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.spark.FerroSpark;
import ferro.spark.SharedSpark;
import org.apache.spark.api.java.JavaRDD;
import org.junit.jupiter.api.Test;

class LogisticRegressionTest {
    /** MLlib, run in the same application, is an independent reference. */
    @Test
    void rankModelsHaveTheOptimumOfMllib() {
        JavaRDD<double[]> rows = NoisyRows.of(SharedSpark.context(), 4_000, 12, SharedSpark.RANKS);
        FerroSpark spark = FerroSpark.on(SharedSpark.context());

        double[] found = new LogisticRegressionByGroup(12, 0.01, 1e-10).train(spark, rows);
        double[] expected = MllibRegression.train(rows, 12, 0.01, 1e-14);

        assertTrue(Math.abs(expected[0]) > 0.1, "the rows tell nothing: " + expected[0]);
        for (int i = 0; i <= 12; i++) {
            assertEquals(expected[i], found[i], 1e-6, i < 12 ? "weight " + i : "intercept");
        }
    }
}
