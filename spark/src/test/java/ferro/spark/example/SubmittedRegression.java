package ferro.spark.example;

import ferro.group.ProcessGroup;
import ferro.spark.FerroSpark;
import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * The example as a program for spark-submit. The program trains twice: from the main thread, and from a thread with the
 * system class loader.
 */
public final class SubmittedRegression {
    private static final int FEATURES = 12;
    private static final int RANKS = 4;

    private SubmittedRegression() {}

    /** A result whose class belongs to this program. */
    static final class Model implements Serializable {
        private static final long serialVersionUID = 1;
        private final double[] weights;

        Model(double[] weights) {
            this.weights = weights;
        }
    }

    /** Trains both models. Prints the class loaders of the ranks, and whether both models are equal. */
    public static void main(String[] args) throws Exception {
        try (JavaSparkContext spark = new JavaSparkContext(new SparkConf())) {
            FerroSpark ferro = FerroSpark.on(spark);
            JavaRDD<double[]> rows = NoisyRows.of(spark, 4_000, FEATURES, RANKS);
            LogisticRegressionByGroup regression = new LogisticRegressionByGroup(FEATURES, 0.01, 1e-10);
            List<String> loaders = ferro.runAll(rows, (rank, own) -> loader(ProcessGroup.class));
            double[] weights = regression.train(ferro, rows);
            Model again = CompletableFuture.supplyAsync(
                            () -> ferro.run(rows, (rank, own) -> new Model(regression.trainRank(rank.group(), own))),
                            SubmittedRegression::start)
                    .get(2, TimeUnit.MINUTES);
            System.out.println("driver: " + loader(FerroSpark.class) + "; ranks: " + String.join(" ", loaders));
            System.out.println("weights " + Arrays.toString(weights));
            System.out.println("a thread whose loader knows the program: " + isKnown(ClassLoader.getSystemClassLoader())
                    + "; its model: of " + loader(again.getClass()) + ", the same: "
                    + Arrays.equals(weights, again.weights));
        }
    }

    private static void start(Runnable task) {
        Thread thread = new Thread(task, "of the system's loader");
        thread.setContextClassLoader(ClassLoader.getSystemClassLoader());
        thread.start();
    }

    private static boolean isKnown(ClassLoader to) {
        try {
            return Class.forName(Model.class.getName(), false, to) != null;
        } catch (ClassNotFoundException unknown) {
            return false;
        }
    }

    private static String loader(Class<?> type) {
        return type.getClassLoader().getClass().getSimpleName();
    }
}
