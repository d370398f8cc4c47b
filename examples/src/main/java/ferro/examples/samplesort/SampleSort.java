package ferro.examples.samplesort;

import ferro.DataType;
import ferro.HostTensor;
import ferro.MessageStatus;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.ProcessGroup;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A sample sort. Each rank has some of the keys. Afterwards rank 0 has the smallest keys, rank 1 the next, and the keys
 * of each rank are sorted. Run the program with {@code ./ferro run -n 4 ferro.examples.samplesort.SampleSort}.
 */
public final class SampleSort {
    /** Keys that each rank contributes to the sample. With more of them, the ranks get more equal numbers of keys. */
    private static final int SAMPLES = 64;

    private static final int TAG = 0;

    private SampleSort() {}

    /**
     * Sorts a million random keys, and prints which keys each rank has then.
     *
     * @param arguments not used
     */
    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            SplittableRandom random = new SplittableRandom(group.rank());
            long[] keys = new long[1_000_000 / group.worldSize()];
            // small keys come much more often than large keys
            Arrays.setAll(keys, i -> random.nextLong() >>> random.nextInt(1, 63));
            long[] sorted = sort(group, keys);
            checkSorted(group, keys, sorted);
            System.out.printf("%d keys from %d to %d%n", sorted.length, sorted[0], sorted[sorted.length - 1]);
        }
    }

    // @start region="sort"
    /** Returns this rank's part of the sorted keys of all ranks. Sorts {@code keys} in place. */
    static long[] sort(ProcessGroup group, long[] keys) {
        Arrays.sort(keys);
        long[] splitters = splitters(group, keys);
        long[] longest = {keys.length};
        group.allReduce(longest, ReduceOp.MAX);
        List<Work> sent = new ArrayList<>();
        int start = 0;
        for (int rank = 0; rank < group.worldSize(); rank++) {
            int end = rank < splitters.length ? firstAtLeast(keys, splitters[rank]) : keys.length;
            sent.add(group.sendAsync(HostTensor.of(DataType.INT64, keys, start, end - start), rank, TAG));
            start = end;
        }
        long[] part = new long[(int) longest[0]];
        long[] sorted = {};
        for (int left = group.worldSize(); left > 0; left--) {
            MessageStatus status = group.recvUpTo(HostTensor.of(part), ProcessGroup.ANY_SOURCE, TAG);
            int length = sorted.length;
            sorted = Arrays.copyOf(sorted, length + (int) status.elements());
            System.arraycopy(part, 0, sorted, length, (int) status.elements());
        }
        Work.all(sent).await();
        Arrays.sort(sorted);
        return sorted;
    }
    // @end

    // @start region="splitters"
    /** Returns the smallest key of each rank but rank 0, from samples of all ranks. The same on all ranks. */
    private static long[] splitters(ProcessGroup group, long[] sortedKeys) {
        long[] own = new long[SAMPLES];
        Arrays.setAll(
                own, i -> sortedKeys.length == 0 ? 0 : sortedKeys[(int) ((long) sortedKeys.length * i / SAMPLES)]);
        long[] samples = new long[SAMPLES * group.worldSize()];
        group.allGather(own, samples);
        Arrays.sort(samples);
        long[] splitters = new long[group.worldSize() - 1];
        Arrays.setAll(splitters, i -> samples[SAMPLES * (i + 1)]);
        return splitters;
    }
    // @end

    /** Returns the index of the first key that is not less than {@code key}. */
    private static int firstAtLeast(long[] sortedKeys, long key) {
        int from = 0;
        int to = sortedKeys.length;
        while (from < to) {
            int middle = (from + to) >>> 1;
            if (sortedKeys[middle] < key) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        return from;
    }

    // @start region="check"
    /** Checks that {@code after} is sorted over all ranks, and has the keys of {@code before}. */
    static void checkSorted(ProcessGroup group, long[] before, long[] after) {
        long[] previous = {Arrays.stream(after).max().orElse(Long.MIN_VALUE)};
        group.exclusiveScan(previous, ReduceOp.MAX); // the largest key of all ranks before this rank
        long descents = 0;
        for (long key : after) {
            descents += key < previous[0] ? 1 : 0;
            previous[0] = key;
        }
        long[] wrong = {descents, after.length - before.length, sumOfHashes(after) - sumOfHashes(before)};
        group.allReduce(wrong, ReduceOp.SUM);
        if (!Arrays.equals(wrong, new long[3])) {
            throw new IllegalStateException(wrong[0] + " keys are less than the key before them, " + wrong[1]
                    + " keys too many, hashes differ by " + wrong[2]);
        }
    }
    // @end

    /** Returns a sum that does not depend on the order of the keys. */
    private static long sumOfHashes(long[] keys) {
        return Arrays.stream(keys)
                .map(key -> new SplittableRandom(key).nextLong())
                .sum();
    }
}
