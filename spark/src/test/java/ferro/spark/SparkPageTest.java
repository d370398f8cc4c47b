package ferro.spark;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Test;

class SparkPageTest {
    private static final int FEATURES = 8;
    private static final int ROWS = 2000;
    private static final int STEPS = 60;
    private static final int CENTERS = 2;
    private static final int SLOTS = 5;

    private static final int WIDTH = 16;

    /** Four ranks train the same model as one rank. */
    @Test
    void theProgramOfThePageTrainsTheModelOfOneProcess() {
        JavaSparkContext sc = SharedSpark.context();
        JavaRDD<double[]> examples = sc.parallelize(examples(), SharedSpark.RANKS);

        double[] distributed = train(sc, examples);
        double[] alone = train(sc, examples.repartition(1));

        assertTrue(distributed[0] > 0.5, "the model has learnt nothing: " + distributed[0]);
        for (int feature = 0; feature < FEATURES; feature++) {
            assertEquals(alone[feature], distributed[feature], 1e-9, "weight " + feature);
        }
    }

    /** The points form two clusters, so the means of the clusters are the centers. */
    @Test
    void centersOfThePageAreTheMeansOfTheirPoints() {
        JavaRDD<double[]> points = SharedSpark.context()
                .parallelize(
                        List.of(
                                new double[] {0, 1},
                                new double[] {10, 11},
                                new double[] {2, 3},
                                new double[] {14, 9},
                                new double[] {1, 2}),
                        SharedSpark.RANKS);

        double[] centers = cluster(SharedSpark.ferro(), points);

        assertArrayEquals(new double[] {1, 2, 12, 10}, centers, 1e-12);
    }

    private static double[] cluster(FerroSpark spark, JavaRDD<double[]> points) {
        return spark.run(points, (rank, rows) -> {
            List<double[]> own = new ArrayList<>();
            rows.forEachRemaining(own::add);
            double[] centers = {0, 0, 9, 9}; // equal on all ranks
            for (int step = 0; step < STEPS; step++) {
                double[] sums = new double[CENTERS * 3]; // of each center's points: x, y, and their number
                own.forEach(point -> addToNearest(point, centers, sums));
                rank.group().allReduce(sums, ReduceOp.SUM);
                for (int center = 0; center < CENTERS; center++) {
                    double count = Math.max(1, sums[3 * center + 2]);
                    centers[2 * center] = sums[3 * center] / count;
                    centers[2 * center + 1] = sums[3 * center + 1] / count;
                }
            }
            return centers;
        });
    }

    private static void addToNearest(double[] point, double[] centers, double[] sums) {
        int nearest = 0;
        double least = Double.MAX_VALUE;
        for (int center = 0; center < CENTERS; center++) {
            double distance = Math.hypot(point[0] - centers[2 * center], point[1] - centers[2 * center + 1]);
            if (distance < least) {
                least = distance;
                nearest = center;
            }
        }
        sums[3 * nearest] += point[0];
        sums[3 * nearest + 1] += point[1];
        sums[3 * nearest + 2]++;
    }

    /** Each rank requests rows from all ranks. */
    @Test
    void vectorsOnThePageAreThoseOfTheRequestedRows() {
        List<float[]> all = SharedSpark.ferro().runAll(SharedSpark.rows(), (rank, rows) -> {
            ProcessGroup group = rank.group();
            int[] wanted = new int[group.worldSize() * SLOTS];
            for (int i = 0; i < wanted.length; i++) {
                int owner = i / SLOTS;
                wanted[i] = owner + group.worldSize() * ((i + group.rank()) % 3);
            }
            float[] table = new float[3 * WIDTH];
            for (int i = 0; i < table.length; i++) {
                int id = group.rank() + group.worldSize() * (i / WIDTH);
                table[i] = 100 * id + i % WIDTH;
            }
            return lookup(group, wanted, table);
        });

        for (int rank = 0; rank < SharedSpark.RANKS; rank++) {
            for (int i = 0; i < SharedSpark.RANKS * SLOTS; i++) {
                int id = i / SLOTS + SharedSpark.RANKS * ((i + rank) % 3);
                assertEquals(100 * id, all.get(rank)[i * WIDTH], "rank " + rank + ", vector " + i);
                assertEquals(100 * id + WIDTH - 1, all.get(rank)[i * WIDTH + WIDTH - 1]);
            }
        }
    }

    private static float[] lookup(ProcessGroup group, int[] wanted, float[] table) {
        int[] asked = new int[wanted.length]; // as many from each rank; row id lies on rank id % ranks
        group.allToAll(wanted, asked);
        float[] answers = new float[asked.length * WIDTH];
        for (int i = 0; i < asked.length; i++) {
            int row = asked[i] / group.worldSize();
            System.arraycopy(table, row * WIDTH, answers, i * WIDTH, WIDTH);
        }
        float[] vectors = new float[answers.length]; // in the order of wanted
        group.allToAll(answers, vectors);
        return vectors;
    }

    @Test
    void eachBlockOnThePageIsInThisProgram() throws IOException {
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

    /** The page, the modules of folder "on" and the script of all checks have the same versions. */
    @Test
    void versionsOnThePageAreThoseOfTheCheckScript() throws IOException {
        Set<String> ofPage = new TreeSet<>();
        Matcher rows = Pattern.compile("(?m)^\\| ([0-9.]+) \\| ([0-9.]+) \\| 17 \\| `ferro-spark` \\|")
                .matcher(Files.readString(Path.of("../docs/spark.md")));
        while (rows.find()) {
            ofPage.add(rows.group(1) + " with Scala " + rows.group(2));
        }
        Set<String> ofScript = new TreeSet<>();
        Matcher modules = Pattern.compile("spark/on/[0-9._]+").matcher(Files.readString(Path.of("../.ci/run")));
        while (modules.find()) {
            String pom = Files.readString(Path.of("..", modules.group(), "pom.xml"));
            ofScript.add(property(pom, "spark.version").orElseThrow() + " with Scala "
                    + property(pom, "scala.binary.version").orElse("2.13"));
        }

        assertEquals(5, ofPage.size(), ofPage + "");
        assertEquals(ofPage, ofScript);
    }

    @Test
    void thePageOpensThePackagesThatTheExampleOpens() throws IOException {
        String script = Files.readString(Path.of("../spark/submit/submit"));
        Matcher packages = Pattern.compile("for package in ([^;]+);").matcher(script.replace("\\\n", " "));
        assertTrue(packages.find(), script);
        Set<String> ofPage = new TreeSet<>();
        Pattern.compile("--add-opens=java\\.base/(\\S+)=ALL-UNNAMED")
                .matcher(Files.readString(Path.of("../docs/spark.md")))
                .results()
                .forEach(option -> ofPage.add(option.group(1)));

        assertEquals(new TreeSet<>(List.of(packages.group(1).trim().split("\\s+"))), ofPage);
    }

    private static Optional<String> property(String pom, String name) {
        Matcher value = Pattern.compile("<" + name + ">(.*)</").matcher(pom);
        return value.find() ? Optional.of(value.group(1)) : Optional.empty();
    }

    private static String bare(String code) {
        return code.replaceAll("(?m)^\\s+", "");
    }

    private static double[] train(JavaSparkContext sc, JavaRDD<double[]> examples) {
        FerroSpark spark = FerroSpark.on(sc).timeout(Duration.ofSeconds(60)).attempts(4);
        double[] model = spark.run(examples, (rank, rows) -> {
            List<double[]> own = new ArrayList<>();
            rows.forEachRemaining(own::add);
            double[] weights = new double[FEATURES];
            for (int step = 0; step < STEPS; step++) {
                double[] gradient = gradient(own, weights); // of this rank's rows
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

    /** Returns rows of features and a label. The label is 1 if the sum of the features is positive. */
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
