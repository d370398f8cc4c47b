package ferro.examples.textmodel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Backend;
import ferro.ReduceOp;
import ferro.Work;
import ferro.backend.simulated.SimulatedBackend;
import ferro.group.ProcessGroup;
import ferro.training.GradientBuckets;
import ferro.training.GradientHook;
import ferro.training.optimizer.UpdateRule;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests that the check passes if the ranks divide a batch correctly, and fails if they divide it wrongly. */
class LossCheckTest {
    private static final String TEXT = "one two three four five six seven eight nine ten. ".repeat(8);
    private static final int STEPS = 50;
    /**
     * Samples of a batch. Of the numbers of ranks in this test only 3 divides this number, so that shares differ by a
     * sample.
     */
    private static final int BATCH = 33;
    /** The update rule of the test. Unlike Adam, its result depends on the length of the gradients. */
    private static final UpdateRule RULE = UpdateRule.sgd().withRate(0.5);

    private final Vocabulary vocabulary = Vocabulary.of(TEXT);
    private final Shape shape = new Shape(vocabulary.size(), 5, 6, 20);
    private final Batches batches = new Batches(vocabulary.encode(TEXT), shape.context(), BATCH, 2);

    /** The training of one rank, which is correct or wrong. */
    @FunctionalInterface
    private interface Training {
        List<TrainingStep> train(ProcessGroup group, ModelReplica replica);
    }

    @Test
    void ranksThatShareEachBatchHaveTheLossesOfOneProcess() throws Exception {
        for (int worldSize = 2; worldSize <= 5; worldSize++) {
            double difference = difference(worldSize, GradientHook.average(), training(worldSize));

            assertTrue(difference < LossCheck.ALLOWED, worldSize + " ranks differ by " + difference);
        }
    }

    @Test
    void allRanksTakingTheSameShareIsCaught() throws Exception {
        assertCaught(
                GradientHook.average(),
                (group, replica) -> trainer(group, 2, replica).train(0, () -> false, step -> {}));
    }

    @Test
    void partsOfTheBatchThatNobodyTakesAreCaught() throws Exception {
        // batches are divided for three ranks, but there are two, so the last third is never used
        assertCaught(GradientHook.average(), training(3));
    }

    @Test
    void sumWhereTheAverageIsNeededIsCaught() throws Exception {
        assertCaught(target -> new Scaled(target, ReduceOp.SUM, 1), training(2));
    }

    @Test
    void unequalSharesOfEqualWeightAreCaught() throws Exception {
        // the mean of each rank has the same weight, whether the rank has 16 samples or 17
        assertCaught(
                target -> new Scaled(
                        target,
                        ReduceOp.AVG,
                        BATCH / 2f / batches.share(0, target.group().rank(), 2).length),
                training(2));
    }

    /** An exchange that computes wrong averages. */
    private record Scaled(GradientHook.SentBucket target, ReduceOp op, float weight) implements GradientHook.Exchange {
        @Override
        public Work start(int contributors) {
            FloatBuffer gradients = target.gradients().buffer().asFloatBuffer();
            for (int i = 0; i < gradients.limit(); i++) {
                gradients.put(i, weight * gradients.get(i));
            }
            return target.group().allReduceAsync(target.gradients(), op);
        }

        @Override
        public void finish(int contributors) {
            // the averages are already in the gradients
        }
    }

    @Test
    void largestDifferenceIsRelativeToTheLossOfOneProcess() {
        double[] together = {4.0, 2.2, 7};
        double[] alone = {4.1, 2.0};

        assertEquals(0.1, LossCheck.largestDifference(together, alone), 1e-9);
    }

    @Test
    void lossThatIsNoNumberIsNeverAllowed() {
        double difference = LossCheck.largestDifference(new double[] {Double.NaN, 3}, new double[] {3, 3});

        assertFalse(difference <= LossCheck.ALLOWED, "difference " + difference);
    }

    private void assertCaught(GradientHook hook, Training wrong) throws Exception {
        double difference = difference(2, hook, wrong);

        assertTrue(difference > 2 * LossCheck.ALLOWED, "a wrong sharing differs by " + difference + " only");
    }

    private Training training(int parts) {
        return (group, replica) -> trainer(group, parts, replica).train(group.rank(), () -> false, step -> {});
    }

    private Trainer trainer(ProcessGroup group, int parts, ModelReplica replica) {
        CharModel model = new CharModel(shape, batches.largestShare(group.worldSize()));
        return new Trainer(group, new ShareGradient(model, batches, parts), replica, STEPS);
    }

    private double difference(int worldSize, GradientHook hook, Training training) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(worldSize);
        try (OneRank one = new OneRank(shape, batches, 2, RULE)) {
            List<Future<List<TrainingStep>>> ranks = new ArrayList<>();
            for (Backend backend : SimulatedBackend.createGroup(worldSize)) {
                ranks.add(threads.submit(() -> trained(backend, hook, training)));
            }
            double[] together = ranks.get(0).get(60, TimeUnit.SECONDS).stream()
                    .mapToDouble(TrainingStep::loss)
                    .toArray();
            return LossCheck.largestDifference(
                    together, new LossCheck(shape, batches, STEPS).alone(one.replica, STEPS));
        } finally {
            threads.shutdownNow();
        }
    }

    private List<TrainingStep> trained(Backend backend, GradientHook hook, Training training) {
        try (ProcessGroup group = ProcessGroup.of(backend);
                ModelReplica replica = new ModelReplica(
                        shape,
                        GradientBuckets.builder(group)
                                .parameters(shape.parameters())
                                .hook(hook)
                                .build(),
                        RULE)) {
            replica.write(shape.initialParameters(2));
            return training.train(group, replica);
        }
    }
}
