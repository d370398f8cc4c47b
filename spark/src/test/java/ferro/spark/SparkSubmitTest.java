package ferro.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.spark.example.SubmittedRegression;
import java.io.IOException;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The example as users run it: by Spark's own SparkSubmit, with ferro's jars behind {@code --jars}. */
@Tag("cluster")
class SparkSubmitTest {
    /** A line of ferro in the layout of Spark's defaults. */
    private static final Pattern INFO =
            Pattern.compile("(?m)^[0-9]{2}/[0-9]{2}/[0-9]{2} [0-9:]{8} INFO [A-Za-z.]+: (ferro|group \"stage).*");

    private SubmittedProgram program;

    @BeforeEach
    void makeHome() throws IOException {
        program = new SubmittedProgram();
    }

    @Test
    void exampleRunsWithFerroBehindJars() throws Exception {
        String out = program.run(SubmittedRegression.class);

        assertLoader("MutableURLClassLoader", out);
        assertSameFromTheSystemsLoader(out);
        assertTrue(INFO.matcher(program.executorLogs()).find(), program.executorLogs());
    }

    @Test
    void exampleRunsWhereClassesOfTheUserComeFirst() throws Exception {
        String out = program.run(
                SubmittedRegression.class,
                "spark.driver.userClassPathFirst=true",
                "spark.executor.userClassPathFirst=true");

        assertLoader("ChildFirstURLClassLoader", out);
        assertSameFromTheSystemsLoader(out);
    }

    /** Executors find the configuration of logging in their installation. */
    @Test
    void exampleRunsWhereKryoWantsRegistrationsAndLogsAtTheLevelThatSparkHas() throws Exception {
        program.logging("""
                rootLogger.level = info
                rootLogger.appenderRef.stderr.ref = console
                appender.console.type = Console
                appender.console.name = console
                appender.console.target = SYSTEM_ERR
                appender.console.layout.type = PatternLayout
                appender.console.layout.pattern = %d{yy/MM/dd HH:mm:ss} %p %c{1}: %m%n
                logger.ferro.name = ferro
                logger.ferro.level = warn
                """);

        String out = program.run(
                SubmittedRegression.class,
                "spark.serializer=org.apache.spark.serializer.KryoSerializer",
                "spark.kryo.registrationRequired=true");

        assertSameFromTheSystemsLoader(out);
        assertTrue(program.executorLogs().contains(" INFO Executor: "), "Spark's own lines are missing");
        assertFalse(INFO.matcher(program.executorLogs()).find(), program.executorLogs());
    }

    private static void assertLoader(String loader, String out) {
        assertEquals(
                "driver: " + loader + "; ranks:" + (" " + loader).repeat(SharedSpark.RANKS),
                out.lines().findFirst().orElse("nothing"));
    }

    private static void assertSameFromTheSystemsLoader(String out) {
        assertTrue(out.contains("the same from a thread of the system's loader: true"), out);
    }
}
