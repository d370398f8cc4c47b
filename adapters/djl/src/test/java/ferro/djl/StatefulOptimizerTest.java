package ferro.djl;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.core.Linear;
import ai.djl.training.optimizer.Optimizer;
import ai.djl.training.tracker.Tracker;
import ferro.backend.simulated.SimulatedBackend;
import ferro.group.ProcessGroup;
import ferro.training.checkpoint.Checkpoints;
import ferro.training.checkpoint.LocalStorage;
import ferro.training.checkpoint.StateSlice;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class StatefulOptimizerTest {
    private static final int STEPS = 5;

    @TempDir
    private Path folder;

    private static final Shape SHAPE = new Shape(3, 4);

    static Stream<Arguments> pairs() {
        return Stream.of(
                Arguments.of(
                        (Supplier<StatefulOptimizer>) () -> DjlAdam.builder()
                                .optLearningRateTracker(Tracker.fixed(0.02f))
                                .optBeta1(0.8f)
                                .optBeta2(0.95f)
                                .optEpsilon(1e-6f)
                                .optWeightDecays(0.03f)
                                .build(),
                        Optimizer.adam()
                                .optLearningRateTracker(Tracker.fixed(0.02f))
                                .optBeta1(0.8f)
                                .optBeta2(0.95f)
                                .optEpsilon(1e-6f)
                                .optWeightDecays(0.03f)
                                .build()),
                Arguments.of(
                        (Supplier<StatefulOptimizer>) () -> DjlAdamW.builder().build(),
                        Optimizer.adamW().build()),
                Arguments.of(
                        (Supplier<StatefulOptimizer>) () -> DjlSgd.builder()
                                .setLearningRateTracker(Tracker.fixed(0.1f))
                                .optMomentum(0.7f)
                                .optClipGrad(0.5f)
                                .build(),
                        Optimizer.sgd()
                                .setLearningRateTracker(Tracker.fixed(0.1f))
                                .optMomentum(0.7f)
                                .optClipGrad(0.5f)
                                .build()));
    }

    @ParameterizedTest
    @MethodSource("pairs")
    void eachOptimizerGivesTheBitsOfDjlsOwn(Supplier<StatefulOptimizer> own, Optimizer djls) {
        assertArrayEquals(trained(djls), trained(own.get()));
    }

    private static float[] trained(Optimizer optimizer) {
        try (NDManager manager = NDManager.newBaseManager()) {
            Random random = new Random(3);
            NDArray weight = values(manager, random);
            weight.setRequiresGradient(true);
            for (int step = 0; step < STEPS; step++) {
                optimizer.update("any", weight, values(manager, random));
            }
            return weight.toFloatArray();
        }
    }

    private static NDArray values(NDManager manager, Random random) {
        float[] values = new float[(int) SHAPE.size()];
        for (int at = 0; at < values.length; at++) {
            values[at] = (float) random.nextGaussian();
        }
        return manager.create(values, SHAPE);
    }

    @ParameterizedTest
    @MethodSource("pairs")
    void aRestoredOptimizerContinuesWithTheSameBits(Supplier<StatefulOptimizer> own, Optimizer djls) {
        try (NDManager manager = NDManager.newBaseManager()) {
            Linear block = Linear.builder().setUnits(3).build();
            block.initialize(manager, DataType.FLOAT32, new Shape(1, 4));
            TrainableParameters parameters = new TrainableParameters(block);
            StatefulOptimizer first = own.get();
            train(first, parameters, new Random(5));
            float[] before = parameters.get(0).getArray().toFloatArray();
            StatefulOptimizer second = own.get();
            List<StateSlice> from = first.slices(parameters);
            List<StateSlice> to = second.slices(parameters);
            assertFalse(from.isEmpty());
            for (int at = 0; at < from.size(); at++) {
                assertEquals(from.get(at).state(), to.get(at).state());
                to.get(at).values().buffer().put(from.get(at).values().buffer());
            }
            second.continueAt(first.stepCount());
            train(first, parameters, new Random(6));
            float[] gone = parameters.get(0).getArray().toFloatArray();

            parameters.get(0).getArray().set(before);
            train(second, parameters, new Random(6));

            assertEquals(2 * STEPS, second.stepCount());
            assertArrayEquals(gone, parameters.get(0).getArray().toFloatArray());
        }
    }

    private static void train(StatefulOptimizer optimizer, TrainableParameters parameters, Random random) {
        NDArray weight = parameters.get(0).getArray();
        for (int step = 0; step < STEPS; step++) {
            try (NDArray gradient = values(weight.getManager(), random)) {
                optimizer.update(parameters.get(0).getId(), weight, gradient);
            }
        }
    }

    @Test
    void theStateOfAnotherOptimizerCannotBeReached() {
        try (ProcessGroup group =
                        ProcessGroup.of(SimulatedBackend.createGroup(1).get(0));
                Checkpoints checkpoints = Checkpoints.open(group, LocalStorage.at(folder));
                DistributedOptimizer optimizer = DistributedOptimizer.over(
                        group,
                        Linear.builder().setUnits(2).build(),
                        Optimizer.adam().build())) {
            UnsupportedOperationException refused =
                    assertThrows(UnsupportedOperationException.class, () -> optimizer.save(checkpoints, 1, Map.of()));

            assertTrue(
                    refused.getMessage()
                                    .startsWith("optimizer ai.djl.training.optimizer.Adam does not expose its state")
                            && refused.getMessage().contains("train with DjlAdam"),
                    refused.getMessage());
        }
    }

    @Test
    void theStateOfAnotherKindOfOptimizerIsRefusedBeforeAnythingIsWritten() {
        try (NDManager manager = NDManager.newBaseManager();
                ProcessGroup group =
                        ProcessGroup.of(SimulatedBackend.createGroup(1).get(0));
                Checkpoints checkpoints = Checkpoints.open(group, LocalStorage.at(folder))) {
            Linear block = Linear.builder().setUnits(3).build();
            block.initialize(manager, DataType.FLOAT32, new Shape(1, 4));
            DistributedOptimizer.over(group, block, DjlAdam.builder().build()).save(checkpoints, 1, Map.of());
            NDArray weight = block.getParameters().valueAt(0).getArray();
            weight.set(new float[(int) weight.size()]);
            DistributedOptimizer other =
                    DistributedOptimizer.over(group, block, DjlAdamW.builder().build());

            IllegalArgumentException refused =
                    assertThrows(IllegalArgumentException.class, () -> other.load(checkpoints));

            assertEquals(
                    "the checkpoint was saved by optimizer DjlAdam, need a checkpoint of optimizer DjlAdamW",
                    refused.getMessage());
            assertArrayEquals(new float[(int) weight.size()], weight.toFloatArray());
        }
    }
}
