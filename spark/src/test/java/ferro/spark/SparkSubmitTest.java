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

/** Tests that run the example as users do: with Spark's own SparkSubmit, and with ferro's jars in {@code --jars}. */
@Tag("cluster")
class SparkSubmitTest {
    /** A line of ferro in Spark's default layout. */
    private static final Pattern INFO =
            Pattern.compile("(?m)^[0-9]{2}/[0-9]{2}/[0-9]{2} [0-9:]{8} INFO [A-Za-z.]+: (ferro|group \"stage).*");

    private static final String LOADER = "MutableURLClassLoader";

    private SubmittedProgram program;

    @BeforeEach
    void makeSparkHome() throws IOException {
        program = new SubmittedProgram();
    }

    @Test
    void theExampleRunsWithFerroInJars() throws Exception {
        String out = program.run(SubmittedRegression.class);

        assertLoader(LOADER, out);
        assertModelOfTheSystemsLoader(LOADER, out);
        assertTrue(INFO.matcher(program.executorLogs()).find(), program.executorLogs());
    }

    @Test
    void theExampleRunsWithUserClassesFirst() throws Exception {
        String out = program.run(
                SubmittedRegression.class,
                "spark.driver.userClassPathFirst=true",
                "spark.executor.userClassPathFirst=true");

        assertLoader("ChildFirstURLClassLoader", out);
        assertModelOfTheSystemsLoader("ChildFirstURLClassLoader", out);
    }

    /** Executors read the logging configuration of their installation. */
    @Test
    void theExampleRunsWithRequiredKryoRegistration() throws Exception {
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
                "spark.kryo.registrationRequired=true",
                // each use registers the classes again, on its own thread
                "spark.kryo.pool=false",
                "spark.kryo.classesToRegister=" + SubmittedRegression.class.getName() + "$Model");

        assertModelOfTheSystemsLoader(LOADER, out);
        assertTrue(program.executorLogs().contains(" INFO Executor: "), "Spark's own lines are missing");
        assertFalse(INFO.matcher(program.executorLogs()).find(), program.executorLogs());
    }

    private static void assertLoader(String loader, String out) {
        assertEquals(
                "driver: " + loader + "; ranks:" + (" " + loader).repeat(SharedSpark.RANKS),
                out.lines().findFirst().orElse("nothing"));
    }

    /** The thread's class loader knows no class of the program, so the function's class loader reads the result. */
    private static void assertModelOfTheSystemsLoader(String loader, String out) {
        assertEquals(
                "a thread whose loader knows the program: false; its model: of " + loader + ", the same: true",
                out.lines().reduce((before, last) -> last).orElse("nothing"));
    }
}
