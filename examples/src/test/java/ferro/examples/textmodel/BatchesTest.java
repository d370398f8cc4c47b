package ferro.examples.textmodel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BatchesTest {
    private static final byte[] TEXT = new byte[500];

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 7, 37})
    void sharesOfAllRanksAreTheBatchOnceAndInOrder(int worldSize) {
        Batches batches = new Batches(TEXT, 16, 37, 9);
        for (int step = 0; step < 5; step++) {
            int number = step;
            int[] joined = IntStream.range(0, worldSize)
                    .flatMap(rank -> Arrays.stream(batches.share(number, rank, worldSize)))
                    .toArray();

            assertArrayEquals(batches.share(step, 0, 1), joined, "step " + step);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 4, 37})
    void noShareIsLargerThanAnnounced(int worldSize) {
        Batches batches = new Batches(TEXT, 16, 37, 9);
        int largest = IntStream.range(0, worldSize)
                .map(rank -> batches.share(0, rank, worldSize).length)
                .max()
                .orElseThrow();

        assertTrue(largest <= batches.largestShare(worldSize), largest + " of " + batches.largestShare(worldSize));
    }

    @Test
    void stepsAndSeedsGiveOtherBatches() {
        int[] batch = new Batches(TEXT, 16, 37, 9).share(0, 0, 1);

        assertFalse(Arrays.equals(batch, new Batches(TEXT, 16, 37, 9).share(1, 0, 1)), "step 1 is step 0");
        assertFalse(Arrays.equals(batch, new Batches(TEXT, 16, 37, 10).share(0, 0, 1)), "seed 10 is seed 9");
    }

    @Test
    void everyWindowHasASymbolAfterIt() {
        Batches batches = new Batches(new byte[18], 16, 2, 1);

        int last = IntStream.range(0, 200)
                .flatMap(step -> Arrays.stream(batches.share(step, 0, 1)))
                .max()
                .orElseThrow();

        assertTrue(last + 16 == 17, "last window begins at " + last);
    }

    @Test
    void shortTextIsRefusedWithWhatIsNeeded() {
        String message = assertThrows(UsageException.class, () -> new Batches(new byte[52], 16, 37, 1))
                .getMessage();

        assertTrue(message.contains("52 characters, need at least 53"), message);
    }

    @Test
    void moreRanksThanSamplesAreRefused() {
        String message = assertThrows(UsageException.class, () -> Batches.checkRanks(3, 4))
                .getMessage();

        assertTrue(message.contains("--batch 3") && message.contains("4 ranks"), message);
    }
}
