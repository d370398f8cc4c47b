package ferro.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.ReduceOp;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Test;

/** Runs the program of docs/spark.md as the page has it. */
class SparkPageTest {
    private static final int FEATURES = 8;
    private static final int ROWS = 2000;
    private static final int STEPS = 60;

    /** Model that four ranks train, and one rank does. */
    @Test
    void programOfThePageTrainsTheModelOfOneProcess() {
        JavaSparkContext sc = SharedSpark.context();
        JavaRDD<double[]> examples = sc.parallelize(examples(), SharedSpark.RANKS);

        double[] distributed = train(sc, examples);
        double[] alone = train(sc, examples.repartition(1));

        assertTrue(distributed[0] > 0.5, "the model has learnt nothing: " + distributed[0]);
        for (int feature = 0; feature < FEATURES; feature++) {
            assertEquals(alone[feature], distributed[feature], 1e-9, "weight " + feature);
        }
    }

    @Test
    void eachBlockOfThePageStandsInThisProgram() throws IOException {
        String source = bare(Files.readString(Path.of("src/test/java/ferro/spark/SparkPageTest.java")));
        Matcher blocks = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL)
                .matcher(Files.readString(Path.of("../docs/spark.md")));
        List<String> missing = new ArrayList<>();
        int found = 0;
        while (blocks.find()) {
            found++;
            if (!source.contains(bare(blocks.group(1)))) {
                missing.add(blocks.group(1));
            }
        }

        assertFalse(found == 0, "the page has no program");
        assertEquals(List.of(), missing);
    }

    private static String bare(String code) {
        return code.replaceAll("(?m)^\\s+", "");
    }

    private static double[] train(JavaSparkContext sc, JavaRDD<double[]> examples) {
        FerroSpark spark = FerroSpark.on(sc).timeout(Duration.ofSeconds(60)).attempts(4);
        double[] model = spark.run(examples, (rank, rows) -> {
            List<double[]> mine = new ArrayList<>();
            rows.forEachRemaining(mine::add);
            double[] weights = new double[FEATURES];
            for (int step = 0; step < STEPS; step++) {
                double[] gradient = gradient(mine, weights); // of this rank's rows
                rank.group().allReduce(gradient, ReduceOp.SUM); // of all rows
                for (int i = 0; i < FEATURES; i++) {
                    weights[i] -= gradient[i] / ROWS;
                }
            }
            return weights; // equal on all ranks; run gives that of rank 0
        });
        return model;
    }

    private static double[] gradient(List<double[]> rows, double[] weights) {
        double[] gradient = new double[FEATURES];
        for (double[] row : rows) {
            double score = IntStream.range(0, FEATURES)
                    .mapToDouble(i -> row[i] * weights[i])
                    .sum();
            double error = 1 / (1 + Math.exp(-score)) - row[FEATURES];
            for (int i = 0; i < FEATURES; i++) {
                gradient[i] += error * row[i];
            }
        }
        return gradient;
    }

    /** Features and, last, the label: 1 where the sum of the features is positive. */
    private static List<double[]> examples() {
        Random random = new Random(7);
        return IntStream.range(0, ROWS)
                .mapToObj(row -> {
                    double[] example = new double[FEATURES + 1];
                    for (int i = 0; i < FEATURES; i++) {
                        example[i] = random.nextGaussian();
                        example[FEATURES] += example[i];
                    }
                    example[FEATURES] = example[FEATURES] > 0 ? 1 : 0;
                    return example;
                })
                .toList();
    }
}
