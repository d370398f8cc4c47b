package ferro.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.ReduceOp;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An application on {@code local[4]} ends after its main method, because ferro leaves no thread that keeps it running. */
@Tag("version")
class LocalApplicationTest {
    private static final int MINUTES = 2;

    /** The application: its ranks are threads of its own JVM. */
    public static void main(String[] arguments) {
        SparkConf conf = new SparkConf(false)
                .setMaster("local[4]")
                .setAppName("local-application")
                .set("spark.driver.host", "127.0.0.1")
                .set("spark.driver.bindAddress", "127.0.0.1")
                .set("spark.ui.enabled", "false");
        try (JavaSparkContext spark = new JavaSparkContext(conf)) {
            List<Integer> sums = FerroSpark.on(spark)
                    .runAll(SharedSpark.rows(spark, SharedSpark.RANKS), (rank, rows) -> {
                        int[] sum = {rows.next()};
                        rank.group().allReduce(sum, ReduceOp.SUM);
                        return sum[0];
                    });
            System.out.println("sums " + sums);
        }
    }

    @Test
    void anApplicationEndsAfterItsMainMethod(@TempDir Path folder) throws Exception {
        Path out = folder.resolve("out");
        Path err = folder.resolve("err");
        Process application = new ProcessBuilder(command())
                .redirectOutput(out.toFile())
                .redirectError(err.toFile())
                .start();
        try {
            boolean ended = application.waitFor(MINUTES, TimeUnit.MINUTES);

            assertEquals("sums [10, 10, 10, 10]", Files.readString(out).strip(), () -> text(err));
            assertTrue(ended, "the application runs on after its main method");
            assertEquals(0, application.exitValue(), () -> text(err));
        } finally {
            application.destroyForcibly();
        }
    }

    private static List<String> command() {
        List<String> command = SubmittedProgram.java();
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), LocalApplicationTest.class.getName()));
        return command;
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException unreadable) {
            return file + " cannot be read: " + unreadable;
        }
    }
}
