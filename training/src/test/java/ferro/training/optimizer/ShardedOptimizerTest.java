package ferro.training.optimizer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.HostTensor;
import ferro.Work;
import ferro.group.ProcessGroup;
import ferro.harness.Medium;
import ferro.harness.Ranks;
import ferro.training.BucketSettings;
import ferro.training.GradientBuckets;
import ferro.training.GradientHook;
import ferro.training.Gradients;
import ferro.training.Parameter;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ShardedOptimizerTest {
    private static final int STEPS = 4;

    static Stream<Arguments> worlds() {
        return Ranks.everywhere()
                .filter(where -> where[0] == Medium.SIMULATED || (int) where[1] > 1 && (int) where[1] < 5)
                .map(Arguments::of);
    }

    @ParameterizedTest
    @MethodSource("worlds")
    @Tag("long")
    void aShardedOptimizerHasTheBitsOfAnUnshardedOne(Medium medium, int worldSize) {
        List<List<Double>> ofRanks = Ranks.run(medium, worldSize, group -> {
            List<Double> last = List.of();
            for (UpdateRule rule : OptimizerRun.RULES) {
                compared(group, rule, Double.POSITIVE_INFINITY);
                last = compared(group, rule, 0.5);
            }
            return last;
        });
        ofRanks.forEach(parameters -> assertEquals(ofRanks.get(0), parameters));
    }

    /** Steps both, and returns the parameters. */
    private static List<Double> compared(ProcessGroup group, UpdateRule rule, double maxNorm) {
        try (OptimizerRun sharded = new OptimizerRun(group, true, rule);
                OptimizerRun full = new OptimizerRun(group, false, rule)) {
            List<Double> before = full.parameters();
            for (int step = 1; step <= STEPS; step++) {
                for (OptimizerRun run : List.of(sharded, full)) {
                    run.compute(step, Gradients::random);
                    run.optimizer.rate(rule.rate() / step);
                }
                double norm = full.optimizer.clipByGlobalNorm(maxNorm);
                assertEquals(norm, sharded.optimizer.clipByGlobalNorm(maxNorm));
                assertTrue(norm > 1, () -> "a norm that is clipped: " + norm);
                sharded.optimizer.step();
                full.optimizer.step();
                assertEquals(full.parameters(), sharded.parameters(), rule + " after step " + step);
                assertNotEquals(before, full.parameters());
                before = full.parameters();
            }
            return before;
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void theRuleIsAppliedToTheAverages(int worldSize) {
        Ranks.each(Medium.SIMULATED, worldSize, group -> {
            for (UpdateRule rule : OptimizerRun.RULES) {
                try (OptimizerRun full = new OptimizerRun(group, false, rule)) {
                    assertFollowsTheFormulas(full, rule);
                }
            }
        });
    }

    private static void assertFollowsTheFormulas(OptimizerRun run, UpdateRule rule) {
        double[][][] state = new double[OptimizerRun.PARAMETERS.size()][][];
        for (int step = 1; step <= STEPS; step++) {
            double[][] before = new double[state.length][];
            for (int parameter = 0; parameter < state.length; parameter++) {
                before[parameter] = Gradients.values(run.optimizer.parameter(parameter));
                state[parameter] = step == 1 ? new double[before[parameter].length][2] : state[parameter];
            }
            run.step(step, Gradients::random, now -> rule.rate() / now);
            for (int parameter = 0; parameter < state.length; parameter++) {
                ScalarRule scalar = new ScalarRule(
                        rule, OptimizerRun.PARAMETERS.get(parameter).dataType());
                scalar.begin(step, rule.rate() / step);
                double[] averages = Gradients.values(run.buckets.gradient(parameter));
                double[] after = Gradients.values(run.optimizer.parameter(parameter));
                for (int i = 0; i < after.length; i++) {
                    double expected = scalar.update(before[parameter][i], averages[i], state[parameter][i]);
                    assertEquals(expected, after[i], "element " + i + " of parameter " + parameter);
                }
            }
        }
    }

    /**
     * In the middle of a step: the last bucket's gradients have come and its update has not begun, and no thread of the program waits in
     * the group.
     */
    @ParameterizedTest
    @EnumSource
    void parametersOfABucketAreSentWhileTheNextIsUpdated(Medium medium) {
        Ranks.each(medium, 2, group -> {
            Arrivals arrivals = new Arrivals();
            try (GradientBuckets buckets = GradientBuckets.builder(group)
                            .parameters(List.of(
                                    Parameter.of("last", DataType.FLOAT32, 64),
                                    Parameter.of("first", DataType.FLOAT32, 64)))
                            .settings(BucketSettings.DEFAULT.withBytes(64, 64))
                            .sharded(true)
                            .hook(arrivals::watch)
                            .build();
                    ShardedOptimizer optimizer =
                            ShardedOptimizer.over(buckets, UpdateRule.sgd().withRate(1))) {
                arrivals.awaited = optimizer.parameter(1).slice(32 * (1 - group.rank()), 32);
                for (int parameter = 1; parameter >= 0; parameter--) {
                    Gradients.fill(buckets.gradient(parameter), parameter, 0, 0, (p, element, rank, step) -> -3);
                    buckets.ready(parameter);
                }
                optimizer.step();
                assertEquals(3, arrivals.awaited.getFloat(31));
                assertTrue(arrivals.came, "the part of the other rank came while this one was busy");
            }
        });
    }

    /** Averages as ever, and when the second bucket has its average looks for what has become of the first. */
    private static final class Arrivals {
        volatile HostTensor awaited;
        volatile boolean came;

        GradientHook.Exchange watch(GradientHook.SentBucket sent) {
            GradientHook.Exchange average = GradientHook.average().open(sent);
            return new GradientHook.Exchange() {
                @Override
                public Work start(int contributors) {
                    return average.start(contributors);
                }

                @Override
                public void finish(int contributors) {
                    average.finish(contributors);
                    long begun = System.nanoTime();
                    while (sent.index() == 1 && !came && System.nanoTime() - begun < TimeUnit.SECONDS.toNanos(30)) {
                        came = awaited.getFloat(31) == 3;
                        Thread.yield();
                    }
                }
            };
        }
    }

    @Test
    void aSkippedStepLeavesParametersAndStepCount() {
        Ranks.each(Medium.SIMULATED, 2, group -> {
            try (OptimizerRun run = new OptimizerRun(group, true, UpdateRule.adam())) {
                run.step(1, Gradients::random, any -> 0.1);
                List<Double> before = run.parameters();
                run.compute(2, Gradients::random);
                run.optimizer.skip();
                assertEquals(before, run.parameters());
                assertEquals(1, run.optimizer.stepCount());
                run.step(3, Gradients::random, any -> 0.1);
                assertNotEquals(before, run.parameters());
                assertEquals(2, run.optimizer.stepCount());
            }
        });
    }

    @Test
    void aStepReportsItsWaitingTime() {
        Ranks.each(Medium.SHM, 2, group -> {
            try (OptimizerRun run = new OptimizerRun(group, true, UpdateRule.adam())) {
                run.compute(1, Gradients::random);
                Duration waited = run.optimizer.step().waited();
                assertTrue(waited.toNanos() > 0, waited::toString);
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void differentRulesAreNamedOnAllRanks(Medium medium) {
        int worldSize = 3;
        try (Ranks ranks = Ranks.over(medium, worldSize)) {
            List<Throwable> failures = ranks.failures(group -> {
                boolean isLast = group.rank() == worldSize - 1;
                UpdateRule rule = UpdateRule.adamW().withRate(isLast ? 0.25 : 0.5);
                new OptimizerRun(group, true, rule).close();
            });
            for (Throwable failure : failures) {
                String message = assertInstanceOf(IllegalArgumentException.class, failure)
                        .getMessage();
                assertTrue(message.contains("rate"), message);
                assertTrue(message.contains("0.5") && message.contains("0.25"), message);
                assertTrue(message.contains("rank " + (worldSize - 1)), message);
            }
        }
    }
}
