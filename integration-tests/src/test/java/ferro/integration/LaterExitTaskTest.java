package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.group.SystemContext;
import ferro.harness.Child;
import ferro.spi.ExitTask;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A task for the end of the JVM that is added after all earlier ones were cancelled. */
@Timeout(60)
class LaterExitTaskTest {
    private static final String RAN = "the later task has run";

    @Test
    void aTaskThatIsAddedAfterTheLastOneWasCancelledRuns() throws IOException, InterruptedException {
        List<String> line = JavaLine.rank(List.of(), LaterExitTaskTest.class.getName());
        String printed = Child.run(0, new ProcessBuilder(line));

        assertTrue(printed.contains(RAN), printed);
    }

    /** The program of the process. */
    public static void main(String[] arguments) {
        SystemContext context = SystemContext.ofProcess();
        context.atExit(ExitTask.Stage.DEVICES, exit -> {}).cancel();
        context.atExit(ExitTask.Stage.DEVICES, exit -> System.out.println(RAN));
    }
}
