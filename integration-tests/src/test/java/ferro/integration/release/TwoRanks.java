package ferro.integration.release;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.harness.Job;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/** A job of two ranks on loopback that a user starts by hand. */
final class TwoRanks {
    private TwoRanks() {}

    /** Runs the program of examples/starter, or one that prints the same, and returns the output of rank 0. */
    static String sum(Map<String, String> variables, List<String> command) throws IOException, InterruptedException {
        try (Job job = Job.byHand(2, variables, rank -> command)) {
            for (int rank = 0; rank < 2; rank++) {
                String said = job.rank(rank).ended(0);
                String sum = "rank " + rank + " of 2 has [3.0, 30.0]";
                assertEquals(1, said.lines().filter(sum::equals).count(), () -> command + "\n" + said);
            }
            return job.rank(0).ended(0);
        }
    }
}
