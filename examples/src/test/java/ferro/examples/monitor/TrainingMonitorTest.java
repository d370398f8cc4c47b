package ferro.examples.monitor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.backend.simulated.SimulatedBackend;
import ferro.tck.Ranks;
import ferro.training.StepTimes;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class TrainingMonitorTest {
    private static final long SECOND = 1_000_000_000;

    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

    /** Steps of ten seconds, in which rank 0 waits for seven and rank 1 for one; rank 0 has three samples, rank 1 one. */
    @Test
    void rankZeroPrintsTheSamplesAndTimesOfAllRanks() {
        PrintStream out = new PrintStream(printed, true, StandardCharsets.UTF_8);
        try (Ranks ranks = Ranks.of(SimulatedBackend.createGroup(2), 2)) {
            ranks.run(group -> {
                AtomicLong nanos = new AtomicLong(77);
                TrainingMonitor monitor = new TrainingMonitor(group, 2, out, nanos::get);
                for (int step = 0; step < 5; step++) {
                    nanos.addAndGet(10 * SECOND);
                    monitor.step(
                            group.rank() == 0 ? 3 : 1,
                            step + 2 * group.rank(),
                            new StepTimes(
                                    Duration.ofSeconds(group.rank() == 0 ? 7 : 1),
                                    Duration.ofSeconds(group.rank() == 0 ? 1 : 2)));
                }
            });
        }

        String shares = "computing 60 %, communicating 15 % hidden, 40 % not hidden  slowest rank 1";
        assertEquals(
                List.of("step 2  loss 1.0000  0 samples/s  " + shares, "step 4  loss 3.0000  0 samples/s  " + shares),
                printed.toString(StandardCharsets.UTF_8).lines().toList());
    }
}
