package ferro.examples.workqueue;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ferro.backend.simulated.SimulatedBackend;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MandelbrotQueueTest {
    /** The last two groups have more ranks that work than tasks. */
    @ParameterizedTest
    @CsvSource({"2, 10", "4, 10", "7, 2", "4, 1"})
    void everyTaskIsComputedOnceByOneOfTheOtherRanks(int worldSize, int side) {
        int tasks = side * side;
        int[] expected = IntStream.range(0, tasks)
                .map(task -> SquareTask.pointsInSet(task, side))
                .toArray();
        SimulatedBackend.run(worldSize, group -> {
            if (group.rank() > 0) {
                MandelbrotQueue.work(group, side);
                return;
            }
            int[] tasksByRank = new int[worldSize];
            assertArrayEquals(expected, MandelbrotQueue.giveOut(group, tasks, tasksByRank));
            assertEquals(0, tasksByRank[0]);
            assertEquals(tasks, Arrays.stream(tasksByRank).sum());
        });
    }

    @Test
    void pointsOfTheSetAreCounted() {
        // around 0 all points are in the set, around -2 - 1.25i none
        assertEquals(64, SquareTask.pointsInSet(58, 10));
        assertEquals(0, SquareTask.pointsInSet(0, 10));
    }

    @Test
    void oneRankAloneIsRefused() {
        SimulatedBackend.run(
                1,
                group -> assertThrows(
                        IllegalArgumentException.class, () -> MandelbrotQueue.giveOut(group, 1, new int[1])));
    }
}
