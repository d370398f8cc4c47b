package ferro.lightgbm.spark.example;

import ferro.lightgbm.spark.LightGbmOnFerro;
import ferro.spark.FerroSpark;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/** A program of Spark that trains a model with random rows. The arguments are the numbers of rows and of iterations. */
public final class TrainTreesOnSpark {
    private TrainTreesOnSpark() {}

    public static void main(String[] arguments) throws IOException {
        try (SparkSession spark = SparkSession.builder().getOrCreate()) {
            List<String> trees = train(spark, Long.parseLong(arguments[0]), Integer.parseInt(arguments[1]))
                    .lines()
                    .filter(line -> line.startsWith("Tree="))
                    .toList();
            System.out.println("trained a model of " + trees.size() + " trees");
        }
    }

    public static String train(SparkSession spark, long rows, int iterations) {
        // @start region="train"
        Dataset<Row> table = spark.range(0, rows, 1, 4) // four partitions, which become four ranks
                .selectExpr("array(rand(1), rand(2), rand(3)) as features")
                .selectExpr("features", "features[0] + features[1] * features[2] > 0.7 as label");
        FerroSpark ranks = FerroSpark.on(spark).attempts(3).timeout(Duration.ofSeconds(60));
        String model = LightGbmOnFerro.on(ranks)
                .features("features") // a Vector, or an array of numbers
                .label("label")
                .iterations(iterations)
                .train(table, "objective=binary num_leaves=31 verbosity=-1");
        return model; // LightGBM's text
        // @end
    }
}
