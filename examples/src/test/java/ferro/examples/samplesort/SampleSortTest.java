package ferro.examples.samplesort;

import static ferro.harness.Says.assertRefused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.backend.simulated.SimulatedBackend;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SampleSortTest {
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 5})
    void theRanksHoldTheSortedKeysInRankOrder(int worldSize) {
        List<long[]> parts = assertSorts(
                worldSize, rank -> new Random(rank).longs(5000 + rank).toArray());
        for (long[] part : parts) {
            // the samples of a part stand for this many keys, at most
            assertTrue(part.length <= 5005 * (64 + worldSize) / 64, () -> "a rank has " + part.length + " keys");
        }
    }

    @Test
    void ranksWithFewOrExtremeKeysAreSorted() {
        long[][] keys = {
            {3, Long.MAX_VALUE, -7},
            {},
            {Long.MIN_VALUE},
            LongStream.range(-300, 300).toArray()
        };
        assertSorts(4, rank -> keys[rank].clone());
        assertSorts(3, rank -> new long[0]);
    }

    @Test
    void equalKeysGoToOneRank() {
        List<long[]> parts =
                assertSorts(3, rank -> LongStream.generate(() -> 5).limit(200).toArray());
        assertEquals(List.of(0, 0, 600), parts.stream().map(part -> part.length).toList());
    }

    /** Each line: what ranks 0 and 1 have after the sort of 4, 8, 9 and 9. */
    @ParameterizedTest
    @CsvSource({
        "4 9 8, 9, 1 keys are less",
        "8 9, 4 9, 1 keys are less",
        "4 8, 9, -1 keys too many",
        "4 8 9, 9 9, 1 keys too many",
        "4 8, 8 9, 0 keys too many"
    })
    void theCheckFindsAWrongOrderAndWrongKeys(String first, String second, String found) {
        SimulatedBackend.run(2, group -> {
            long[] before = group.rank() == 0 ? new long[] {9, 4} : new long[] {9, 8};
            String after = group.rank() == 0 ? first : second;
            long[] keys =
                    Arrays.stream(after.split(" ")).mapToLong(Long::parseLong).toArray();
            assertRefused(IllegalStateException.class, () -> SampleSort.checkSorted(group, before, keys), found);
        });
    }

    private static List<long[]> assertSorts(int worldSize, IntFunction<long[]> keysOfRank) {
        List<long[]> parts = SimulatedBackend.runAll(worldSize, group -> {
            long[] keys = keysOfRank.apply(group.rank());
            long[] sorted = SampleSort.sort(group, keys);
            SampleSort.checkSorted(group, keys, sorted);
            return sorted;
        });
        long[] expected = IntStream.range(0, worldSize)
                .mapToObj(keysOfRank)
                .flatMapToLong(Arrays::stream)
                .sorted()
                .toArray();
        assertArrayEquals(expected, parts.stream().flatMapToLong(Arrays::stream).toArray());
        return parts;
    }
}
