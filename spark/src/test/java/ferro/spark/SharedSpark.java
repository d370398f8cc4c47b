package ferro.spark;

import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * The Spark context of this JVM, which all tests share. Spark allows only one context per JVM and needs seconds to
 * start it.
 */
public final class SharedSpark {
    public static final int RANKS = 4;

    private SharedSpark() {}

    private static final class Holder {
        static final JavaSparkContext SPARK = new JavaSparkContext(conf("local[4,4]"));
    }

    public static JavaSparkContext context() {
        return Holder.SPARK;
    }

    static FerroSpark ferro() {
        return FerroSpark.on(context());
    }

    static SparkConf conf(String master) {
        return new SparkConf()
                .setMaster(master)
                .setAppName("ferro-spark-test")
                .set("spark.ui.enabled", "false")
                .set("spark.driver.host", "127.0.0.1")
                .set("spark.driver.bindAddress", "127.0.0.1")
                .set("spark.local.dir", System.getProperty("spark.test.folder", "target") + "/spark-local");
    }

    static JavaRDD<Integer> rows() {
        return rows(context(), RANKS);
    }

    public static JavaRDD<Integer> rows(JavaSparkContext spark, int count) {
        return spark.parallelize(IntStream.rangeClosed(1, count).boxed().toList(), count);
    }
}
