package ferro.spark.example;

import ferro.group.ProcessGroup;
import ferro.spark.FerroSpark;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;

/** The example as a program for spark-submit. It trains twice: from main, and from a thread that Spark knows nothing of. */
public final class SubmittedRegression {
    private static final int FEATURES = 12;
    private static final int RANKS = 4;

    private SubmittedRegression() {}

    /**
     * Trains, and prints which class loaders ranks have and whether both models are equal.
     *
     * @param args none
     * @throws Exception if a run fails
     */
    public static void main(String[] args) throws Exception {
        try (JavaSparkContext spark = new JavaSparkContext(new SparkConf())) {
            FerroSpark ferro = FerroSpark.on(spark);
            JavaRDD<double[]> rows = NoisyRows.of(spark, 4_000, FEATURES, RANKS);
            List<String> loaders = ferro.runAll(rows, (rank, mine) -> loader(ProcessGroup.class));
            double[] weights = train(ferro, rows);
            double[] again = CompletableFuture.supplyAsync(() -> train(ferro, rows), SubmittedRegression::start)
                    .get(2, TimeUnit.MINUTES);
            System.out.println("driver: " + loader(FerroSpark.class) + "; ranks: " + String.join(" ", loaders));
            System.out.println("weights " + Arrays.toString(weights));
            System.out.println("the same from a thread of the system's loader: " + Arrays.equals(weights, again));
        }
    }

    private static double[] train(FerroSpark ferro, JavaRDD<double[]> rows) {
        return new LogisticRegressionByGroup(FEATURES, 0.01, 1e-10).train(ferro, rows);
    }

    private static void start(Runnable task) {
        Thread thread = new Thread(task, "of the system's loader");
        thread.setContextClassLoader(ClassLoader.getSystemClassLoader());
        thread.start();
    }

    private static String loader(Class<?> type) {
        return type.getClassLoader().getClass().getSimpleName();
    }
}
