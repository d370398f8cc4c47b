package ferro.training.optimizer;

import static ferro.harness.Says.assertFailed;
import static ferro.harness.Says.assertSays;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.harness.Medium;
import ferro.harness.Ranks;
import ferro.training.Gradients;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class OptimizerFailureTest {
    private static final UpdateRule RULE = UpdateRule.adam();

    @Test
    void aStepTimesOutIfARankDoesNotStep() {
        CountDownLatch ended = new CountDownLatch(1);
        try (Ranks ranks = Ranks.over(Medium.SIMULATED, 2, Map.of("ferro.timeout", "2s"))) {
            List<Throwable> failures = ranks.failures(group -> {
                OptimizerRun run = new OptimizerRun(group, true, RULE);
                run.step(1, Gradients::random, step -> 0.1);
                run.compute(2, Gradients::random);
                if (group.rank() == 1) {
                    ended.await(60, TimeUnit.SECONDS);
                    return;
                }
                try {
                    run.optimizer.step();
                } finally {
                    ended.countDown();
                }
            });
            assertFailed(Code.TIMED_OUT, failures.get(0));
            assertNull(failures.get(1));
        }
    }

    @ParameterizedTest
    @EnumSource
    void aStepFailsIfAnotherRankAborts(Medium medium) {
        try (Ranks ranks = Ranks.over(medium, 2)) {
            List<Throwable> failures = ranks.failures(group -> {
                OptimizerRun run = new OptimizerRun(group, true, RULE);
                run.step(1, Gradients::random, step -> 0.1);
                if (group.rank() == 1) {
                    run.buckets.group().abort(new IllegalStateException("no more samples"));
                    return;
                }
                run.step(2, Gradients::random, step -> 0.1);
            });
            assertFailed(Code.ABORTED, failures.get(0), "no more samples");
            assertNull(failures.get(1));
        }
    }

    @ParameterizedTest
    @EnumSource
    void aStepWithoutAGradientFailsOnAllRanks(Medium medium) {
        try (Ranks ranks = Ranks.over(medium, 2)) {
            List<Throwable> failures = ranks.failures(group -> {
                OptimizerRun run = new OptimizerRun(group, true, RULE);
                if (group.rank() == 1) {
                    run.buckets.ready(6);
                } else {
                    run.compute(1, Gradients::random);
                }
                run.optimizer.step();
            });
            assertSays(assertInstanceOf(FerroException.class, failures.get(0)), "never ready");
            assertSays(assertInstanceOf(IllegalStateException.class, failures.get(1)), "wide.weight");
        }
    }

    @Test
    void aStepThatFinishHasEndedIsRefused() {
        try (Ranks ranks = Ranks.over(Medium.SIMULATED, 2)) {
            List<Throwable> failures = ranks.failures(group -> {
                OptimizerRun run = new OptimizerRun(group, true, RULE);
                run.step(1, Gradients::random, step -> 0.1);
                run.compute(2, Gradients::random);
                run.buckets.finish();
                run.optimizer.step();
            });
            for (Throwable failure : failures) {
                assertSays(failure.getMessage(), "GradientBuckets.finish() has already ended step 2");
            }
        }
    }
}
