package ferro.spark;

import java.io.File;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/** A cluster of processes on this machine: a master, workers and executors of Spark. */
public final class TestCluster {
    private TestCluster() {}

    /** Starts executors with two slots each. The executors authenticate each other with a secret. */
    public static JavaSparkContext start(int executors, SparkConf more) throws IOException {
        String classPath = System.getProperty("java.class.path");
        linkJars(Path.of(System.getenv("SPARK_HOME"), "jars"), classPath);
        SparkConf conf = SharedSpark.conf("local-cluster[" + executors + ",2,1024]")
                .set("spark.executor.extraClassPath", classPath)
                .set("spark.authenticate", "true")
                .set("spark.authenticate.secret", "a secret of tests, and of nothing else");
        for (Tuple2<String, String> one : more.getAll()) {
            conf.set(one._1(), one._2());
        }
        return new JavaSparkContext(conf);
    }

    /** A worker of Spark starts executors with the jars of an installation. */
    static void linkJars(Path jars, String classPath) throws IOException {
        Files.createDirectories(jars);
        // links of an earlier run, perhaps with another version of Spark
        try (DirectoryStream<Path> old = Files.newDirectoryStream(jars)) {
            for (Path link : old) {
                Files.delete(link);
            }
        }
        for (String one : classPath.split(File.pathSeparator)) {
            Path link = jars.resolve(Path.of(one).getFileName());
            if (one.endsWith(".jar") && !Files.exists(link)) {
                Files.createSymbolicLink(link, Path.of(one).toAbsolutePath());
            }
        }
    }
}
