package ferro.training;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Medium;
import ferro.harness.Ranks;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class SyncedStatisticsTest {
    private static final int CHANNELS = 3;
    private static final int INNER = 5;

    /** Rank r has 2 + 3 r samples; the mean of channel c is large against its deviation. */
    private static float[] values(int rank) {
        Random random = new Random(rank);
        float[] values = new float[(2 + 3 * rank) * CHANNELS * INNER];
        for (int i = 0; i < values.length; i++) {
            int channel = i / INNER % CHANNELS;
            values[i] = (float) (random.nextGaussian() + Math.pow(1000, channel) * (rank + 1));
        }
        return values;
    }

    private static Moments own(int rank) {
        return Moments.of(values(rank), CHANNELS, INNER);
    }

    private static double[] numbers(Moments moments) {
        double[] numbers = new double[1 + 2 * CHANNELS];
        moments.write(numbers);
        return numbers;
    }

    @ParameterizedTest(name = "{1} ranks over {0}")
    @MethodSource("ferro.harness.Ranks#everywhere")
    void allRanksHaveTheSameMomentsOfAllValues(Medium medium, int worldSize) {
        List<double[]> found = Ranks.run(
                medium,
                worldSize,
                group -> numbers(SyncedStatistics.of(group, CHANNELS).combine(own(group.rank()))));
        found.forEach(each -> assertEquals(Arrays.toString(found.get(0)), Arrays.toString(each)));

        float[] all = new float[0];
        for (int rank = 0; rank < worldSize; rank++) {
            float[] more = values(rank);
            int length = all.length;
            all = Arrays.copyOf(all, length + more.length);
            System.arraycopy(more, 0, all, length, more.length);
        }
        double[] expected = numbers(Moments.of(all, CHANNELS, INNER));
        for (int i = 0; i < expected.length; i++) {
            assertEquals(expected[i], found.get(0)[i], 1e-12 * Math.abs(expected[i]), "number " + i);
        }
    }

    @ParameterizedTest(name = "{1} ranks over {0}")
    @MethodSource("ferro.harness.Ranks#everywhere")
    void aRankWithoutDataDoesNotCount(Medium medium, int worldSize) {
        int idle = worldSize / 2;
        List<Moments> found = Ranks.run(medium, worldSize, group -> {
            SyncedStatistics statistics = SyncedStatistics.of(group, CHANNELS);
            if (group.rank() == idle) {
                statistics.takePartWithoutData();
                return null;
            }
            return statistics.combine(own(group.rank()));
        });
        Moments expected = IntStream.range(0, worldSize)
                .filter(rank -> rank != idle)
                .mapToObj(SyncedStatisticsTest::own)
                .reduce(Moments.none(CHANNELS), Moments::with);
        for (int rank = 0; rank < worldSize; rank++) {
            if (rank != idle) {
                assertEquals(Arrays.toString(numbers(expected)), Arrays.toString(numbers(found.get(rank))));
            }
        }
    }

    /** A sum of squares less the square of the sum would have no digit left: 1e9 squared has no room for a variance of 2. */
    @Test
    void aLargeMeanDoesNotCancelASmallVariance() {
        Moments first = Moments.of(2, new double[] {1e9}, new double[] {1});
        Moments second = Moments.of(2, new double[] {1e9 + 2}, new double[] {1});

        Moments both = first.with(second);

        assertEquals(1e9 + 1, both.mean(0));
        assertEquals(2, both.variance(0), 1e-9);
        assertEquals(8.0 / 3, both.unbiasedVariance(0), 1e-9);
        assertEquals(4, both.count());
    }

    @Test
    void momentsEqualTheirDefinition() {
        // two samples, two channels, two values each
        Moments moments = Moments.of(new float[] {1, 2, 10, 20, 3, 6, 30, 60}, 2, 2);

        assertEquals(4, moments.count());
        assertEquals(3, moments.mean(0));
        assertEquals(30, moments.mean(1));
        assertEquals(3.5, moments.variance(0));
        assertEquals(350, moments.variance(1));
        assertEquals(14.0 / 3, moments.unbiasedVariance(0));
    }

    @Test
    void momentsOfNoValuesAreZero() {
        Moments none = Moments.none(1).with(Moments.none(1));

        assertEquals(0, none.count());
        assertEquals(0, none.mean(0));
        assertEquals(0, none.variance(0));
        assertEquals(0, none.unbiasedVariance(0));
    }

    @Test
    void momentsWithAnotherNumberOfChannelsAreRefused() {
        Ranks.each(Medium.SIMULATED, 2, group -> {
            SyncedStatistics statistics = SyncedStatistics.of(group, CHANNELS);
            String message = assertThrows(IllegalArgumentException.class, () -> statistics.combine(Moments.none(2)))
                    .getMessage();
            assertTrue(message.endsWith("need moments of the same number of channels, found 2"), message);
            statistics.takePartWithoutData();
        });
        assertThrows(IllegalArgumentException.class, () -> Moments.of(new float[7], 2, 2));
        assertThrows(IllegalArgumentException.class, () -> Moments.of(1, new double[2], new double[1]));
        assertThrows(IllegalArgumentException.class, () -> Moments.none(0));
        assertThrows(IllegalArgumentException.class, () -> Moments.none(1).with(Moments.none(2)));
    }
}
