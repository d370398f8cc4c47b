package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.backend.simulated.SimulatedBackend;
import ferro.harness.Child;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class ExitOfManyRanksTest {
    private static final int RANKS = 50;

    /** Makes the ranks, stops all threads once, and exits. */
    static final class OpenRanks {
        private OpenRanks() {}

        public static void main(String[] arguments) {
            SimulatedBackend.createGroup(RANKS);
            Thread.getAllStackTraces();
            System.exit(0);
        }
    }

    @Test
    void allRanksOfAJvmStopItsThreadsOnlyOnceForStacks() throws Exception {
        List<String> command = JavaLine.rank(List.of("-Xlog:safepoint:stdout"), OpenRanks.class.getName());
        String output = Child.run(0, new ProcessBuilder(command));

        List<String> stops =
                output.lines().filter(line -> line.contains("ThreadDump")).toList();
        // the first is that of the program itself, which shows that a stop has a line in this log
        assertEquals(2, stops.size(), stops::toString);
    }
}
