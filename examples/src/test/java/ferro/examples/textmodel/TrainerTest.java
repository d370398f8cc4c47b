package ferro.examples.textmodel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.ReduceOp;
import ferro.Work;
import ferro.backend.simulated.SimulatedBackend;
import ferro.examples.textmodel.Trainer.TrainingStep;
import ferro.tck.Ranks;
import ferro.training.GradientBuckets;
import ferro.training.GradientHook;
import ferro.training.optimizer.UpdateRule;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The losses of the ranks are those of one process if the ranks divide each batch correctly, and others if not. */
class TrainerTest {
    private static final int STEPS = 50;
    /** Of the numbers of ranks in this test only 3 divides the samples of a batch, so that shares differ by a sample. */
    private static final int BATCH = 33;
    /** Unlike that of Adam, the result depends on the length of the gradients. */
    private static final UpdateRule RULE = UpdateRule.sgd().withRate(0.5);

    private final TrainingText source =
            TrainingText.of("one two three four five six seven eight nine ten. ".repeat(8), 1);
    private final CharModel.Shape shape =
            new CharModel.Shape(source.characters().length(), 5, 6, 20);
    private final Batches batches = new Batches(source.symbols(), shape.context(), BATCH, 2);

    @Test
    void trainingLowersTheLossAndStopsAfterItsTime() {
        List<TrainingStep> steps = alone(() -> false);
        int[] asked = {0};

        assertTrue(steps.get(STEPS - 1).loss() < steps.get(0).loss() * 0.8, steps::toString);
        assertEquals(7, alone(() -> ++asked[0] == 7).size());
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4, 5})
    void ranksThatShareEachBatchHaveTheLossesOfOneProcess(int worldSize) {
        double difference = difference(worldSize, GradientHook.average(), rank -> rank, worldSize);

        assertTrue(difference < TextModelRank.ALLOWED, worldSize + " ranks differ by " + difference);
    }

    @Test
    void equalSharesOnAllRanksAreDetected() {
        assertCaught(GradientHook.average(), rank -> 0, 2);
    }

    @Test
    void missingPartsOfTheBatchAreDetected() {
        assertCaught(GradientHook.average(), rank -> rank, 3);
    }

    @Test
    void aSumInsteadOfTheAverageIsDetected() {
        assertCaught(target -> new Summed(target, 1), rank -> rank, 2);
    }

    @Test
    void unequalSharesOfEqualWeightAreDetected() {
        assertCaught(
                target -> new Summed(
                        target, BATCH / 4f / batches.share(0, target.group().rank(), 2).length),
                rank -> rank,
                2);
    }

    @Test
    void aNanLossIsNeverAccepted() {
        List<TrainingStep> alone = List.of(new TrainingStep(0, 2, 0, 0));

        assertEquals(0.5, TextModelRank.largestDifference(List.of(new TrainingStep(0, 3, 0, 0)), alone));
        double none = TextModelRank.largestDifference(List.of(new TrainingStep(0, Double.NaN, 0, 0)), alone);
        assertFalse(none <= TextModelRank.ALLOWED, "difference " + none);
    }

    /** Sums gradients times a weight, which is wrong unless the weight makes averages of them. */
    private record Summed(GradientHook.SentBucket target, float weight) implements GradientHook.Exchange {
        @Override
        public Work start(int contributors) {
            FloatBuffer gradients = target.gradients().buffer().asFloatBuffer();
            for (int i = 0; i < gradients.limit(); i++) {
                gradients.put(i, weight * gradients.get(i));
            }
            return target.group().allReduceAsync(target.gradients(), ReduceOp.SUM);
        }

        @Override
        public void finish(int contributors) {
            // the sums are already in the gradients
        }
    }

    private void assertCaught(GradientHook hook, IntUnaryOperator part, int parts) {
        double difference = difference(2, hook, part, parts);

        assertTrue(difference > 2 * TextModelRank.ALLOWED, "a wrong sharing differs by " + difference + " only");
    }

    private List<TrainingStep> alone(BooleanSupplier outOfTime) {
        try (OneRank one = new OneRank(shape, batches, RULE)) {
            return one.train(STEPS, outOfTime);
        }
    }

    private double difference(int worldSize, GradientHook hook, IntUnaryOperator part, int parts) {
        List<TrainingStep> together = new ArrayList<>();
        try (Ranks ranks = Ranks.of(SimulatedBackend.createGroup(worldSize), worldSize)) {
            ranks.run(group -> {
                GradientBuckets buckets = GradientBuckets.builder(group)
                        .parameters(shape.parameters())
                        .hook(hook)
                        .build();
                try (Trainer trainer = new Trainer(group, shape, batches, buckets, RULE)) {
                    List<TrainingStep> steps =
                            trainer.train(part.applyAsInt(group.rank()), parts, STEPS, () -> false, step -> {});
                    if (group.rank() == 0) {
                        together.addAll(steps);
                    }
                }
            });
        }
        return TextModelRank.largestDifference(together, alone(() -> false));
    }
}
