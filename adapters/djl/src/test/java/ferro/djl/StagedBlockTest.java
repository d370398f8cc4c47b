package ferro.djl;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.MalformedModelException;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.Block;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ferro.ReduceOp;
import ferro.Work;
import ferro.harness.Child;
import ferro.training.GradientHook;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class StagedBlockTest {
    @Test
    void stagedTrainingHasTheBitsOfDjlsOwnLoop() throws Exception {
        List<Child> staged = RankJvms.run(2, FitsWithEasyTrain.class, "adam", "broadcast", "staged");
        List<Child> unstaged = RankJvms.run(2, FitsWithEasyTrain.class, "adam", "broadcast", "whole");

        assertEquals(List.of("overlapped"), staged.get(0).after("whyNot"));
        for (int rank = 0; rank < 2; rank++) {
            assertEquals(FitsWithEasyTrain.STEPS, staged.get(rank).after("loss").size());
            assertEquals(unstaged.get(rank).after("loss"), staged.get(rank).after("loss"));
            assertEquals(unstaged.get(rank).after("replica"), staged.get(rank).after("replica"));
        }
    }

    @Test
    void gradientsOfTheLastLayerAreSentFirst() {
        StagedBlock block = StagedBlock.of(
                new SequentialBlock().add(linear()).add(Activation.reluBlock()).add(linear()));
        List<Boolean> wasFirstLayerDone = new ArrayList<>();
        GradientHook hook = target -> new GradientHook.Exchange() {
            @Override
            public Work start(int contributors) {
                float[] first = block.getParameters()
                        .valueAt(0)
                        .getArray()
                        .getGradient()
                        .toFloatArray();
                wasFirstLayerDone.add(hasOtherThanZero(first));
                return target.group().allReduceAsync(target.gradients(), ReduceOp.AVG);
            }

            @Override
            public void finish(int contributors) {
                // the average has been computed
            }
        };
        try (OneRank rank = new OneRank(block, hook)) {
            rank.trainBatch();

            assertEquals(List.of(false, false, true, true), wasFirstLayerDone);
        }
    }

    private static boolean hasOtherThanZero(float[] values) {
        for (float value : values) {
            if (value != 0) {
                return true;
            }
        }
        return false;
    }

    /** Models whose gradient is not zero. A rectifier may be zero for all samples. */
    static Stream<Arguments> models() {
        Block twice = linear();
        return Stream.of(
                Arguments.of(
                        new SequentialBlock().add(linear()).add(Activation.sigmoidBlock()),
                        "parameters are trained in 1 of the model's 2 children"),
                Arguments.of(
                        new SequentialBlock()
                                .add(twice)
                                .add(Activation.sigmoidBlock())
                                .add(twice),
                        "children 01Linear and 03Linear share parameter \"weight\""),
                Arguments.of(
                        new SequentialBlock()
                                .add(linear())
                                .add(arrays -> new NDList(arrays.head(), arrays.head()), "two")
                                .add(new TakesTwo(linear())),
                        "none of the children [03TakesTwo] receives a single array of floats"));
    }

    @ParameterizedTest
    @MethodSource("models")
    void aModelThatCannotBeStagedGivesTheReasonAndTrains(SequentialBlock model, String why) {
        try (OneRank rank = new OneRank(StagedBlock.of(model), GradientHook.average())) {
            float[] before = rank.block().getParameters().valueAt(0).getArray().toFloatArray();

            rank.trainBatch();
            float[] gradient = rank.block()
                    .getParameters()
                    .valueAt(0)
                    .getArray()
                    .getGradient()
                    .toFloatArray();
            rank.step();

            Optional<String> reason = rank.block().whyNotOverlapped();
            assertTrue(reason.isPresent() && reason.get().startsWith(why), reason::toString);
            float[] after = rank.block().getParameters().valueAt(0).getArray().toFloatArray();
            assertTrue(
                    !Arrays.equals(before, after),
                    () -> "the step changed nothing of " + Arrays.toString(before) + " with the gradient "
                            + Arrays.toString(gradient));
        }
    }

    @Test
    void aModelThatReturnsIntermediateResultsIsNotStaged() {
        SequentialBlock model =
                new SequentialBlock().add(linear()).add(linear()).setReturnIntermediate(true);

        GraphCutPlan plan = GraphCutPlan.of(model);

        assertTrue(plan.cuts().isEmpty());
        assertTrue(plan.whyNot().orElseThrow().startsWith("the model returns the results of all its 2 children"));
    }

    @Test
    void aSecondBatchBeforeTheStepIsRefused() {
        StagedBlock block = StagedBlock.of(new SequentialBlock().add(linear()).add(linear()));
        try (OneRank rank = new OneRank(block, GradientHook.average())) {
            rank.trainBatch();

            IllegalStateException refused = assertThrows(IllegalStateException.class, rank::trainBatch);

            assertTrue(
                    refused.getMessage()
                                    .startsWith(
                                            "the gradient of parameter \"02Linear_weight\" is computed a second time")
                            && refused.getMessage().contains("call the trainer's step() after each trainBatch"),
                    refused.getMessage());
        }
    }

    @Test
    void aStagedModelHasTheParameterFilesOfTheModel() throws IOException, MalformedModelException {
        try (NDManager manager = NDManager.newBaseManager()) {
            SequentialBlock model = new SequentialBlock().add(linear()).add(linear());
            StagedBlock block = StagedBlock.of(model);
            block.initialize(manager, DataType.FLOAT32, new Shape(1, OneRank.WIDTH));
            ByteArrayOutputStream file = new ByteArrayOutputStream();
            block.saveParameters(new DataOutputStream(file));
            SequentialBlock read = new SequentialBlock().add(linear()).add(linear());

            read.loadParameters(manager, new DataInputStream(new ByteArrayInputStream(file.toByteArray())));

            assertEquals(model.getParameters().keys(), block.getParameters().keys());
            for (int at = 0; at < model.getParameters().size(); at++) {
                assertArrayEquals(
                        model.getParameters().valueAt(at).getArray().toFloatArray(),
                        read.getParameters().valueAt(at).getArray().toFloatArray());
            }
        }
    }

    private static Block linear() {
        return Linear.builder().setUnits(OneRank.WIDTH).build();
    }
}
