package ferro.examples.textmodel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Backend;
import ferro.ReduceOp;
import ferro.backend.simulated.SimulatedBackend;
import ferro.group.ProcessGroup;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The check passes ranks that share a batch rightly, and none of those that do not. */
class LossCheckTest {
    private static final String TEXT = "one two three four five six seven eight nine ten. ".repeat(8);
    private static final int STEPS = 50;
    /** Not divisible by any number of ranks used here but 3, so that shares differ by a sample. */
    private static final int BATCH = 33;

    private final Vocabulary vocabulary = Vocabulary.of(TEXT);
    private final Shape shape = new Shape(vocabulary.size(), 5, 6, 20);
    private final Batches batches = new Batches(vocabulary.encode(TEXT), shape.context(), BATCH, 2);

    /** How one rank trains, rightly or wrongly. */
    @FunctionalInterface
    private interface Training {
        List<TrainingStep> train(ProcessGroup group, Adam optimiser, float[] parameters);
    }

    @Test
    void ranksThatShareEachBatchHaveTheLossesOfOneProcess() throws Exception {
        for (int worldSize = 2; worldSize <= 5; worldSize++) {
            double difference = difference(
                    worldSize,
                    (group, optimiser, parameters) -> training(group, group.worldSize(), optimiser, average(group))
                            .train(group.rank(), parameters, STEPS, () -> false, step -> {}));

            assertTrue(difference < LossCheck.ALLOWED, worldSize + " ranks differ by " + difference);
        }
    }

    @Test
    void allRanksTakingTheSameShareIsCaught() throws Exception {
        assertCaught((group, optimiser, parameters) -> training(group, group.worldSize(), optimiser, average(group))
                .train(0, parameters, STEPS, () -> false, step -> {}));
    }

    @Test
    void partsOfTheBatchThatNobodyTakesAreCaught() throws Exception {
        // cut for three ranks where there are two: the last third is never seen
        assertCaught((group, optimiser, parameters) -> training(group, 3, optimiser, average(group))
                .train(group.rank(), parameters, STEPS, () -> false, step -> {}));
    }

    @Test
    void sumWhereTheAverageIsNeededIsCaught() throws Exception {
        assertCaught((group, optimiser, parameters) -> training(
                        group, 2, optimiser, values -> group.allReduce(values, ReduceOp.SUM))
                .train(group.rank(), parameters, STEPS, () -> false, step -> {}));
    }

    @Test
    void unequalSharesOfEqualWeightAreCaught() throws Exception {
        assertCaught((group, optimiser, parameters) -> {
            // each rank's own mean weighs the same, whether it is over 16 samples or over 17
            float weight = BATCH / 2f / batches.share(0, group.rank(), 2).length;
            GradientExchange unweighted = values -> {
                for (int i = 0; i < values.length; i++) {
                    values[i] *= weight;
                }
                group.allReduce(values, ReduceOp.AVG);
            };
            return training(group, 2, optimiser, unweighted)
                    .train(group.rank(), parameters, STEPS, () -> false, step -> {});
        });
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

    private void assertCaught(Training wrong) throws Exception {
        double difference = difference(2, wrong);

        assertTrue(difference > 2 * LossCheck.ALLOWED, "a wrong sharing differs by " + difference + " only");
    }

    private Trainer training(ProcessGroup group, int parts, Adam optimiser, GradientExchange exchange) {
        CharModel model = new CharModel(shape, batches.largestShare(group.worldSize()));
        return new Trainer(new ShareGradient(model, batches, parts), optimiser, exchange);
    }

    private static GradientExchange average(ProcessGroup group) {
        return values -> group.allReduce(values, ReduceOp.AVG);
    }

    private double difference(int worldSize, Training training) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(worldSize);
        try {
            List<Future<List<TrainingStep>>> ranks = new ArrayList<>();
            for (Backend backend : SimulatedBackend.createGroup(worldSize)) {
                ranks.add(threads.submit(() -> {
                    try (ProcessGroup group = ProcessGroup.of(backend)) {
                        return training.train(group, optimiser(), shape.initialParameters(2));
                    }
                }));
            }
            double[] together = ranks.get(0).get(60, TimeUnit.SECONDS).stream()
                    .mapToDouble(TrainingStep::loss)
                    .toArray();
            double[] alone = new LossCheck(shape, batches).alone(shape.initialParameters(2), optimiser(), STEPS);
            return LossCheck.largestDifference(together, alone);
        } finally {
            threads.shutdownNow();
        }
    }

    private Adam optimiser() {
        return new Adam(shape.parameterCount(), 0.01, STEPS);
    }
}
