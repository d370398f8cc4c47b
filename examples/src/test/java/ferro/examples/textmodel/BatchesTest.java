package ferro.examples.textmodel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import ferro.harness.Says;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BatchesTest {
    private final Batches batches = new Batches(new byte[500], 16, 37, 9);

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 7, 37})
    void sharesOfAllRanksAreTheBatchInOrder(int worldSize) {
        for (int step = 0; step < 5; step++) {
            int number = step;
            int[] joined = IntStream.range(0, worldSize)
                    .flatMap(rank -> Arrays.stream(batches.share(number, rank, worldSize)))
                    .toArray();

            assertArrayEquals(batches.share(step, 0, 1), joined, "step " + step);
        }
    }

    @Test
    void eachStepAndSeedHasAnotherBatch() {
        int[] batch = batches.share(0, 0, 1);

        assertFalse(Arrays.equals(batch, batches.share(1, 0, 1)), "step 1 is step 0");
        assertFalse(Arrays.equals(batch, new Batches(new byte[500], 16, 37, 10).share(0, 0, 1)), "seed 10 is seed 9");
    }

    @Test
    void everyWindowHasASymbolAfterIt() {
        Batches small = new Batches(new byte[18], 16, 2, 1);

        int last = IntStream.range(0, 200)
                .flatMap(step -> Arrays.stream(small.share(step, 0, 1)))
                .max()
                .orElseThrow();

        assertEquals(17, last + 16);
    }

    @Test
    void tooShortTextAndTooManyRanksAreRefused() {
        TrainingText text = TrainingText.of("a".repeat(52), 1);

        assertRefused(text, "37", "52 characters, need at least 53");
        assertRefused(text, "3", "--batch 3: fewer samples than ranks, need at least 4");
    }

    private static void assertRefused(TrainingText text, String batch, String expected) {
        Options options = Options.parse("--batch", batch);
        Says.assertRefused(IllegalArgumentException.class, () -> Batches.of(options, text, 4), expected);
    }
}
