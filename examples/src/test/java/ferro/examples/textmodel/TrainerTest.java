package ferro.examples.textmodel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.training.optimizer.UpdateRule;
import java.util.List;
import org.junit.jupiter.api.Test;

class TrainerTest {
    private static final String TEXT = "one two three four five six seven eight nine ten. ".repeat(8);
    private static final int STEPS = 60;

    private final Vocabulary vocabulary = Vocabulary.of(TEXT);
    private final Shape shape = new Shape(vocabulary.size(), 5, 6, 20);

    @Test
    void trainingLowersTheLoss() {
        double[] losses = losses(1);

        assertTrue(losses[STEPS - 1] < losses[0] / 2, losses[0] + " to " + losses[STEPS - 1]);
    }

    @Test
    void sameSeedGivesTheSameLosses() {
        assertArrayEquals(losses(4), losses(4));
    }

    @Test
    void anotherSeedGivesOtherLosses() {
        assertTrue(losses(4)[5] != losses(5)[5], "seeds 4 and 5 agree");
    }

    @Test
    void trainingEndsAfterTheStepThatRanOutOfTime() {
        int[] asked = {0};

        try (OneRank one = rank(1)) {
            List<TrainingStep> steps = one.train(STEPS, () -> ++asked[0] == 7);

            assertEquals(7, steps.size());
        }
    }

    @Test
    void stepsGoOnWhereTrainingHasStopped() {
        try (OneRank one = rank(1)) {
            int[] asked = {0};
            one.train(STEPS, () -> ++asked[0] == 10);

            List<TrainingStep> steps = one.train(STEPS, () -> false);

            assertEquals(10, steps.get(0).number());
            assertEquals(losses(1)[STEPS - 1], steps.get(STEPS - 11).loss());
        }
    }

    private double[] losses(long seed) {
        try (OneRank one = rank(seed)) {
            return one.train(STEPS, () -> false).stream()
                    .mapToDouble(TrainingStep::loss)
                    .toArray();
        }
    }

    private OneRank rank(long seed) {
        Batches batches = new Batches(vocabulary.encode(TEXT), shape.context(), 33, seed);
        return new OneRank(shape, batches, seed, UpdateRule.adam().withRate(0.01));
    }
}
