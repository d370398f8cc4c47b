package ferro.examples.textmodel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
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
        Trainer trainer = new Trainer(shares(1, 1), optimiser(), GradientExchange.ALONE);
        int[] asked = {0};

        List<TrainingStep> steps =
                trainer.train(0, shape.initialParameters(1), STEPS, () -> ++asked[0] == 7, step -> {});

        assertEquals(7, steps.size());
    }

    @Test
    void averageOfTheOthersIsWhatTheStepUses() {
        GradientExchange nothing = values -> Arrays.fill(values, 0);
        float[] parameters = shape.initialParameters(1);

        new Trainer(shares(1, 1), optimiser(), nothing).train(0, parameters, 3, () -> false, step -> {});

        assertArrayEquals(shape.initialParameters(1), parameters);
    }

    private double[] losses(long seed) {
        Trainer trainer = new Trainer(shares(1, seed), optimiser(), GradientExchange.ALONE);
        return trainer.train(0, shape.initialParameters(seed), STEPS, () -> false, step -> {}).stream()
                .mapToDouble(TrainingStep::loss)
                .toArray();
    }

    private Adam optimiser() {
        return new Adam(shape.parameterCount(), 0.01, STEPS);
    }

    private ShareGradient shares(int worldSize, long seed) {
        Batches batches = new Batches(vocabulary.encode(TEXT), shape.context(), 33, seed);
        return new ShareGradient(new CharModel(shape, batches.largestShare(worldSize)), batches, worldSize);
    }
}
