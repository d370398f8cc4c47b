package ferro.training;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.training.RankSampler.LastSamples;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class RankSamplerTest {
    private static final long SEED = 20240229;
    private static final int CASES = 3000;

    /** A job whose number of ranks changes between its parts. */
    private static final class Job {
        private final long samples;
        private final LastSamples last;
        private Map<String, String> state;
        private List<RankSampler> ranks;
        /** How many ranks took samples last. */
        private int takers;

        final List<Long> taken = new ArrayList<>();

        Job(long samples, LastSamples last, long epoch, int worldSize) {
            this.samples = samples;
            this.last = last;
            start(worldSize);
            ranks.forEach(rank -> rank.startEpoch(epoch));
        }

        private void start(int worldSize) {
            ranks = IntStream.range(0, worldSize)
                    .mapToObj(rank -> RankSampler.of(samples, SEED, last, rank, worldSize))
                    .toList();
        }

        /** Saves what rank 0 has, and goes on with another number of ranks. */
        void resumeOn(int worldSize) {
            state = ranks.get(0).state();
            start(worldSize);
            ranks.forEach(rank -> rank.restore(state));
        }

        /** Every rank takes a batch; returns the longest. */
        int takeBatch(int size) {
            int longest = 0;
            for (RankSampler rank : ranks) {
                long[] batch = rank.nextBatch(size);
                longest = Math.max(longest, batch.length);
                Arrays.stream(batch).forEach(taken::add);
            }
            takers = longest > 0 ? ranks.size() : takers;
            return longest;
        }

        void takeAll(int batch) {
            while (takeBatch(batch) > 0) {
                // until no rank has one
            }
        }
    }

    /** Runs one epoch of a random size with up to four parts of random numbers of ranks. */
    private static Job epoch(Random random, LastSamples last) {
        int samples = 1 + random.nextInt(random.nextBoolean() ? 40 : 1500);
        Job job = new Job(samples, last, random.nextInt(5), 1 + random.nextInt(9));
        int batch = 1 + random.nextInt(7);
        for (int part = random.nextInt(4); part > 0; part--) {
            long rounds = (samples - job.ranks.get(0).position()) / ((long) batch * job.ranks.size());
            for (int round = random.nextInt((int) rounds + 2); round > 0; round--) {
                job.takeBatch(batch);
            }
            job.resumeOn(1 + random.nextInt(9));
        }
        job.takeAll(batch);
        return job;
    }

    private static long[] counts(Job job) {
        long[] counts = new long[(int) job.samples];
        job.taken.forEach(sample -> counts[sample.intValue()]++);
        return counts;
    }

    /** Samples are dropped, or padded, as many as one less than the ranks at most. */
    @ParameterizedTest
    @EnumSource
    void everySampleIsTakenOnceAlthoughTheNumberOfRanksChanges(LastSamples last) {
        Random random = new Random(1 + last.ordinal());
        for (int i = 0; i < CASES; i++) {
            Job job = epoch(random, last);

            assertTrue(
                    Arrays.stream(counts(job))
                            .allMatch(count -> (count >= 1 || last == LastSamples.DROP)
                                    && (count <= 1 || last == LastSamples.PAD)),
                    () -> job.ranks + " took " + job.taken);
            long more = job.taken.size() - job.samples;
            assertTrue(more < job.takers && -more < job.ranks.size(), () -> job.ranks + " took more by " + more);
        }
    }

    @Test
    void dropAndPadGiveEveryRankEquallyManySamples() {
        for (LastSamples last : List.of(LastSamples.DROP, LastSamples.PAD)) {
            for (int samples = 1; samples < 30; samples++) {
                Job job = new Job(samples, last, 3, 4);
                long expected = last == LastSamples.DROP ? samples / 4 : (samples + 3) / 4;

                assertTrue(
                        job.ranks.stream().allMatch(rank -> rank.remaining() == expected),
                        last + " of " + samples + " samples");
            }
        }
    }

    @Test
    void missingSamplesAreFilledWithTheFirstOfTheEpoch() {
        Job job = new Job(5, LastSamples.PAD, 0, 4);

        job.takeAll(1);

        assertEquals(job.taken.subList(0, 3), job.taken.subList(5, 8));
    }

    @Test
    void aGlobalBatchHoldsTheSameSamplesForAnyNumberOfRanks() {
        List<List<Long>> batches = new ArrayList<>();
        for (int worldSize : List.of(1, 2, 3, 4)) {
            Job job = new Job(1000, LastSamples.DROP, 2, worldSize);
            job.takeBatch(12 / worldSize);
            job.takeBatch(12 / worldSize);
            batches.add(job.taken.subList(12, 24).stream().sorted().toList());
        }
        assertEquals(1, batches.stream().distinct().count(), batches::toString);
    }

    @Test
    void eachEpochAndSeedHasItsOwnOrder() {
        long[] first = RankSampler.of(100, 5, LastSamples.DROP, 0, 1).nextBatch(100);
        RankSampler later = RankSampler.of(100, 5, LastSamples.DROP, 0, 1);
        later.startEpoch(1);
        long[] other = RankSampler.of(100, 6, LastSamples.DROP, 0, 1).nextBatch(100);

        assertNotEquals(Arrays.toString(first), Arrays.toString(later.nextBatch(100)));
        assertNotEquals(Arrays.toString(first), Arrays.toString(other));
        assertNotEquals(Arrays.toString(LongStream.range(0, 100).toArray()), Arrays.toString(first));
    }

    /** Checkpoints of any version continue in the same order. */
    @Test
    void theOrderOfASeedNeverChanges() {
        long[] first = RankSampler.of(10, 7, LastSamples.DROP, 0, 1).nextBatch(10);
        long[] large = RankSampler.of(Long.MAX_VALUE, 7, LastSamples.DROP, 1, 2).nextBatch(2);

        assertArrayEquals(new long[] {0, 7, 8, 1, 2, 6, 9, 5, 3, 4}, first);
        assertArrayEquals(new long[] {1115869342783632701L, 2265166828451020819L}, large);
    }

    /** Each of ten samples comes at each place about equally often: 10,000 orders, so 1,000 each, deviation 30. */
    @Test
    void everySampleIsAtEveryPositionEquallyOften() {
        int[][] counts = new int[10][10];
        for (int epoch = 0; epoch < 10_000; epoch++) {
            SampleOrder order = new SampleOrder(10, SEED, epoch);
            for (int position = 0; position < 10; position++) {
                counts[position][(int) order.sampleAt(position)]++;
            }
        }
        for (int[] position : counts) {
            assertTrue(
                    Arrays.stream(position).allMatch(count -> Math.abs(count - 1000) < 150), Arrays.toString(position));
        }
    }

    @Test
    void theEndOfAnEpochThrows() {
        RankSampler sampler = RankSampler.of(5, SEED, LastSamples.DROP, 1, 2);
        assertEquals(2, sampler.nextBatch(9).length);

        String message =
                assertThrows(NoSuchElementException.class, sampler::next).getMessage();

        assertEquals("epoch 0 of 5 samples has ended for rank 1 of 2 at position 4: call startEpoch(1)", message);
        assertEquals(0, sampler.nextBatch(1).length);
    }

    @Test
    void aSamplerStateOfOtherSamplesIsRefused() {
        RankSampler sampler = RankSampler.of(50, SEED, LastSamples.PAD, 0, 1);
        Map<String, String> other =
                RankSampler.of(51, SEED, LastSamples.PAD, 0, 1).state();

        String message = assertThrows(IllegalArgumentException.class, () -> sampler.restore(other))
                .getMessage();

        assertTrue(message.startsWith("sampler.samples is 51 in the state and 50 in this sampler"), message);
    }

    @Test
    void anInvalidSamplerStateIsRefusedAndChangesNothing() {
        RankSampler sampler = RankSampler.of(50, SEED, LastSamples.PAD, 0, 1);
        sampler.nextBatch(8);
        Map<String, String> sane = sampler.state();
        for (Map.Entry<String, String> wrong : List.of(
                Map.entry("sampler.position", "51"),
                Map.entry("sampler.position", "-1"),
                Map.entry("sampler.epoch", "two"),
                Map.entry("sampler.epoch", "-2"),
                Map.entry("sampler.seed", "1"),
                Map.entry("sampler.order", "sorted"))) {
            Map<String, String> state = new HashMap<>(sane);
            state.put(wrong.getKey(), wrong.getValue());

            assertThrows(IllegalArgumentException.class, () -> sampler.restore(state), wrong::toString);
            assertEquals(sane, sampler.state());
        }
    }
}
