package ferro.training.optimizer;

import static ferro.harness.Says.assertSays;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.HostTensor;
import ferro.harness.Medium;
import ferro.harness.Ranks;
import ferro.training.BucketLayout;
import ferro.training.BucketSettings;
import ferro.training.GradientBuckets;
import ferro.training.Gradients;
import ferro.training.Parameter;
import ferro.training.checkpoint.StateSlice;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.DoubleUnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class OptimizerStateTest {
    private static final int SAVED_AT = 3;
    private static final int STEPS = 6;
    private static final DoubleUnaryOperator SCHEDULE = step -> 0.05 / step;

    /** What a checkpoint keeps, element by element. */
    private record Saved(Map<String, Double> state, List<Double> parameters, Map<String, String> settings) {}

    @ParameterizedTest
    @CsvSource({"4, 2, true", "2, 3, true", "3, 1, true", "1, 4, true", "2, 4, false", "5, 2, true"})
    void anotherNumberOfRanksContinuesWithTheSameBits(int savedBy, int loadedBy, boolean sharded) {
        for (UpdateRule rule : OptimizerRun.RULES) {
            List<Saved> parts = Ranks.run(Medium.SIMULATED, savedBy, group -> {
                try (OptimizerRun run = new OptimizerRun(group, sharded, rule)) {
                    train(run, 1, SAVED_AT);
                    return new Saved(elements(run), run.parameters(), run.optimizer.settings());
                }
            });
            Map<String, Double> state = new HashMap<>();
            parts.forEach(part -> state.putAll(part.state));
            Saved all = new Saved(state, parts.get(0).parameters, parts.get(0).settings);
            List<List<Double>> resumed = Ranks.run(Medium.SIMULATED, loadedBy, group -> {
                try (OptimizerRun run = new OptimizerRun(group, true, rule)) {
                    load(run, all);
                    train(run, SAVED_AT + 1, STEPS);
                    assertEquals(STEPS, run.optimizer.stepCount());
                    return run.parameters();
                }
            });
            List<Double> straight = Ranks.run(Medium.SIMULATED, 1, group -> {
                        try (OptimizerRun run = new OptimizerRun(group, false, rule)) {
                            train(run, 1, STEPS);
                            return run.parameters();
                        }
                    })
                    .get(0);
            resumed.forEach(parameters -> assertEquals(straight, parameters, rule.toString()));
        }
    }

    private static void train(OptimizerRun run, int from, int to) {
        for (int step = from; step <= to; step++) {
            run.step(step, OptimizerRun::equalOnAllRanks, SCHEDULE);
        }
    }

    private static Map<String, Double> elements(OptimizerRun run) {
        Map<String, Double> elements = new HashMap<>();
        for (StateSlice slice : run.optimizer.state()) {
            double[] values = Gradients.values(slice.values());
            for (int i = 0; i < values.length; i++) {
                assertNull(elements.put(key(slice, i), values[i]), "twice " + key(slice, i));
            }
        }
        return elements;
    }

    private static String key(StateSlice slice, int i) {
        return slice.state() + " " + slice.parameter() + " " + (slice.from() + i);
    }

    private static void load(OptimizerRun run, Saved saved) {
        for (StateSlice slice : run.optimizer.state()) {
            for (int i = 0; i < slice.values().elementCount(); i++) {
                set(slice.values(), i, saved.state.get(key(slice, i)));
            }
        }
        int at = 0;
        for (int parameter = 0; parameter < OptimizerRun.PARAMETERS.size(); parameter++) {
            for (int i = 0; i < OptimizerRun.PARAMETERS.get(parameter).elementCount(); i++) {
                set(run.optimizer.parameter(parameter), i, saved.parameters.get(at++));
            }
        }
        run.optimizer.restore(saved.settings);
        assertEquals(SAVED_AT, run.optimizer.stepCount());
        assertEquals(SCHEDULE.applyAsDouble(SAVED_AT), run.optimizer.rate());
    }

    private static void set(HostTensor tensor, int i, double value) {
        if (tensor.dataType() == DataType.FLOAT32) {
            tensor.setFloat(i, (float) value);
        } else {
            tensor.setDouble(i, value);
        }
    }

    /** Each element of each parameter lies on one rank, none of the padding on any, and no rank has more than its share. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5})
    void eachRankHasItsShareOfTheState(int worldSize) {
        List<Map<String, Double>> parts = Ranks.run(Medium.SIMULATED, worldSize, group -> {
            try (OptimizerRun run = new OptimizerRun(group, true, UpdateRule.adam())) {
                long padded = 0;
                for (BucketLayout.Bucket bucket : run.buckets.layout().buckets()) {
                    padded += bucket.elementCount();
                }
                Map<String, Double> own = elements(run);
                assertTrue(own.size() <= 2 * padded / worldSize, () -> own.size() + " elements");
                return own;
            }
        });
        Map<String, Integer> owners = new HashMap<>();
        parts.forEach(part -> part.keySet().forEach(key -> owners.merge(key, 1, Integer::sum)));
        long elements = 0;
        for (Parameter parameter : OptimizerRun.PARAMETERS) {
            for (long i = 0; i < parameter.elementCount(); i++) {
                assertEquals(1, owners.get("exp_avg " + parameter.name() + " " + i));
                assertEquals(1, owners.get("exp_avg_sq " + parameter.name() + " " + i));
            }
            elements += parameter.elementCount();
        }
        assertEquals(2 * elements, owners.size());
    }

    @Test
    void anUnshardedOptimizerHasAllStateOnEachRank() {
        Ranks.each(Medium.SIMULATED, 2, group -> {
            try (OptimizerRun run =
                    new OptimizerRun(group, false, UpdateRule.sgd().withMomentum(0.9))) {
                List<StateSlice> state = run.optimizer.state();
                assertEquals(OptimizerRun.PARAMETERS.size(), state.size());
                for (int i = 0; i < state.size(); i++) {
                    Parameter parameter = OptimizerRun.PARAMETERS.get(i);
                    assertEquals("momentum_buffer", state.get(i).state());
                    assertEquals(parameter.name(), state.get(i).parameter());
                    assertEquals(0, state.get(i).from());
                    assertEquals(parameter.elementCount(), state.get(i).values().elementCount());
                    assertEquals(parameter.dataType(), state.get(i).values().dataType());
                }
            }
        });
    }

    @Test
    void settingsHaveStepsRateAndConstants() {
        alone(
                UpdateRule.adamW(),
                optimizer -> assertEquals(
                        Map.of(
                                "optimizer.rule", "adamw",
                                "optimizer.rate", "0.001",
                                "optimizer.beta1", "0.9",
                                "optimizer.beta2", "0.999",
                                "optimizer.epsilon", "1.0E-8",
                                "optimizer.weightDecay", "0.01",
                                "optimizer.buckets",
                                        optimizer.buckets().layout().settings().toString(),
                                "optimizer.steps", "0"),
                        optimizer.settings()));
    }

    @Test
    void anotherUpdateRuleIsRefusedWithBothValues() {
        alone(UpdateRule.adamW(), optimizer -> {
            Map<String, String> saved = new HashMap<>(optimizer.settings());
            saved.put("optimizer.steps", "7");
            saved.put("optimizer.rate", "0.5");
            saved.put("sampler.position", "12");
            assertRefused(
                    optimizer,
                    saved,
                    "optimizer.beta2",
                    "0.9",
                    "the checkpoint has optimizer.beta2=0.9, the optimizer has 0.999");
            assertRefused(
                    optimizer, saved, "optimizer.buckets", "others", "the checkpoint has optimizer.buckets=others");
            assertRefused(optimizer, saved, "optimizer.rule", "sgd", "optimizer.rule=sgd, the optimizer has adamw");
            assertRefused(optimizer, saved, "optimizer.steps", "7.5", "optimizer.steps=7.5: need a number");
            assertRefused(optimizer, saved, "optimizer.steps", "-1", "optimizer.steps=-1: need a number of at least 0");
            assertRefused(optimizer, saved, "optimizer.rate", "NaN", "rate must be finite and at least 0, found NaN");
            optimizer.restore(saved);
            assertEquals(7, optimizer.stepCount());
            assertEquals(0.5, optimizer.rate());
        });
    }

    @Test
    void otherBucketSizesThanInTheCheckpointAreRefusedWithTheRemedies() {
        BucketSettings before = BucketSettings.DEFAULT.withBytes(1 << 20, 4 << 20);
        Ranks.each(Medium.SIMULATED, 1, group -> {
            Map<String, String> saved;
            try (GradientBuckets buckets = GradientBuckets.builder(group)
                            .parameters(Gradients.PARAMETERS)
                            .settings(before)
                            .build();
                    ShardedOptimizer optimizer = ShardedOptimizer.over(buckets, UpdateRule.adam())) {
                saved = new HashMap<>(optimizer.settings());
                optimizer.restore(saved);
            }
            try (GradientBuckets buckets = GradientBuckets.builder(group)
                            .parameters(Gradients.PARAMETERS)
                            .build();
                    ShardedOptimizer optimizer = ShardedOptimizer.over(buckets, UpdateRule.adam())) {
                String message = assertThrows(IllegalArgumentException.class, () -> optimizer.restore(saved))
                        .getMessage();
                assertEquals(
                        "the checkpoint has optimizer.buckets=BucketSettings[firstBytes=1048576, bytes=4194304, order=[]],"
                                + " the optimizer has BucketSettings[firstBytes=1048576, bytes=1048576, order=[]]: build the"
                                + " buckets with the settings of the checkpoint, because the bits of sums depend on them,"
                                + " or put the optimizer's value into the settings to continue with it",
                        message);
                saved.put("optimizer.buckets", optimizer.settings().get("optimizer.buckets"));
                optimizer.restore(saved);
            }
        });
    }

    private static void assertRefused(
            ShardedOptimizer optimizer, Map<String, String> saved, String name, String value, String text) {
        Map<String, String> changed = new HashMap<>(saved);
        changed.put(name, value);
        assertSays(assertThrows(IllegalArgumentException.class, () -> optimizer.restore(changed)), text);
        assertEquals(0, optimizer.stepCount());
        assertEquals(0.001, optimizer.rate());
    }

    private static void alone(UpdateRule rule, Consumer<ShardedOptimizer> test) {
        Ranks.each(Medium.SIMULATED, 1, group -> {
            try (OptimizerRun run = new OptimizerRun(group, true, rule)) {
                test.accept(run.optimizer);
            }
        });
    }
}
