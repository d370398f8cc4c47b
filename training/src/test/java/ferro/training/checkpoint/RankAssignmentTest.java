package ferro.training.checkpoint;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RankAssignmentTest {
    @Test
    void theLargestObjectGoesToTheRankWithTheLeastBytes() {
        assertArrayEquals(new int[] {2, 0, 1, 2, 1}, RankAssignment.byBytes(new long[] {4, 10, 5, 3, 2}, 3));
    }

    @Test
    void equalSizesGoToRanksInOrder() {
        assertArrayEquals(new int[] {0, 1, 2, 0}, RankAssignment.byBytes(new long[] {8, 8, 8, 8}, 3));
    }

    /** The bound of the rule for n ranks: what the fullest has beyond the mean is at most the largest object. */
    @Test
    void noRankHasMoreThanTheMeanPlusTheLargest() {
        Random random = new Random(7);
        for (int worldSize = 1; worldSize <= 9; worldSize++) {
            long[] bytes = random.longs(40, 1, 1000).toArray();
            long[] load = new long[worldSize];
            int[] ranks = RankAssignment.byBytes(bytes, worldSize);
            for (int index = 0; index < bytes.length; index++) {
                load[ranks[index]] += bytes[index];
            }
            long max = Arrays.stream(load).max().orElseThrow();
            long mean = Arrays.stream(bytes).sum() / worldSize;
            long largest = Arrays.stream(bytes).max().orElseThrow();
            assertTrue(max <= mean + largest, worldSize + " ranks: " + Arrays.toString(load));
            assertTrue(Arrays.stream(load).min().orElseThrow() > 0, Arrays.toString(load));
        }
    }
}
