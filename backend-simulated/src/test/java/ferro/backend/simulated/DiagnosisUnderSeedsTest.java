package ferro.backend.simulated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.ReduceOp;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Who is named when a rank stands still, whatever the order of things. */
class DiagnosisUnderSeedsTest {
    private static final int SIZE = 4;
    private static final int VICTIM = 2;
    private static final long HELD_UP_NANOS = 5_000_000_000L;
    private static final int SEEDS = 100;
    private static final Map<String, String> DEADLINE = Map.of("ferro.timeout", "1s");

    private static void add(Throwable failure, List<FerroException> failures) {
        if (failure != null) {
            failures.add((FerroException) (failure instanceof CompletionException ? failure.getCause() : failure));
        }
    }

    private static Simulation sums(long seed, List<FerroException> failures) {
        int[][] data = new int[SIZE][5];
        Simulation simulation = Simulation.of(SIZE, seed, DEADLINE).onEveryRank(group -> {
            try {
                for (int call = 0; call < 10; call++) {
                    group.allReduceAsync(HostTensor.of(data[group.rank()]), ReduceOp.SUM)
                            .completion()
                            .whenComplete((done, failure) -> add(failure, failures));
                }
            } catch (FerroException refused) {
                // this rank has slept through all of it
                add(refused, failures);
            }
        });
        return simulation.faults(List.of(new Fault.Pause(4 + seed % 40, VICTIM, Duration.ofSeconds(7))));
    }

    @Test
    @DisplayName("row 4: a rank that stands still past the deadline is named by all, and by itself when it goes on")
    void aPausedRankIsNamedByAllRanks() {
        AtomicInteger named = new AtomicInteger();
        Simulation.seeds(SEEDS).forEach(seed -> {
            List<FerroException> failures = new ArrayList<>();
            Simulation simulation = sums(seed, failures);
            simulation.check(() -> {
                for (FerroException failure : failures) {
                    assertEquals(Code.TIMED_OUT, failure.code(), failure.getMessage());
                    assertEquals(Set.of(2), failure.where().culprits(), failure.getMessage());
                    String text = failure.getMessage();
                    assertTrue(text.contains("rank 2 does not answer"), text);
                    // a call that it made after it went on was not held up
                    boolean heldUp = failure.where().rank() == VICTIM
                            && failure.where().elapsed().toNanos() > HELD_UP_NANOS;
                    assertEquals(heldUp, text.contains("this process was paused 6.9 s"), text);
                }
                named.addAndGet(failures.isEmpty() ? 0 : 1);
            });
            simulation.run();
        });
        assertTrue(named.get() > SEEDS / 2 || named.get() == 1, named + " runs had a failure");
    }
}
