package ferro.training;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Objects;

/**
 * Which samples a rank takes in each epoch, in an order that seed and epoch determine. Nothing is communicated and no array of
 * indices is kept.
 *
 * <p>The position is counted in samples of the whole job: at position p, rank r of n takes the p + r-th sample of the order, and
 * all ranks go on to position p + n. Ranks that take equally many samples therefore share out one range of the order, whatever n
 * is, and {@link #restore} continues at the position with another number of ranks: no sample of the epoch comes twice, and none
 * is left out, but for what {@link LastSamples} says of the last ones.
 *
 * <p>{@link #nextBatch} takes several samples at once; a global batch is the batch of one rank times the
 * number of ranks, and holds the same samples for every number of ranks that divides it.
 *
 * <p>For one thread at a time.
 */
public final class RankSampler {
    private static final String SAMPLES = "sampler.samples";
    private static final String SEED = "sampler.seed";
    private static final String EPOCH = "sampler.epoch";
    private static final String POSITION = "sampler.position";
    private static final String ORDER = "sampler.order";

    private final long sampleCount;
    private final long seed;
    private final LastSamples last;
    private final int rank;
    private final int worldSize;
    private long epoch;
    private long position;
    private SampleOrder order;

    /** What becomes of the last samples of an epoch if they are fewer than the ranks. */
    public enum LastSamples {
        /** Nobody takes them: at most as many samples as there are ranks, less one, are left out. */
        DROP,
        /** Ranks without one take the first samples of the epoch again, so that all ranks take equally many. */
        PAD,
        /** Some ranks take one sample more than others, and every sample is taken exactly once. Ranks end unevenly. */
        UNEVEN
    }

    private RankSampler(long sampleCount, long seed, LastSamples last, int rank, int worldSize) {
        this.sampleCount = sampleCount;
        this.seed = seed;
        this.last = last;
        this.rank = rank;
        this.worldSize = worldSize;
        startEpoch(0);
    }

    /**
     * Makes a sampler at the start of epoch 0.
     *
     * @param sampleCount number of samples of the data set, the same on all ranks
     * @param seed        determines the orders, the same on all ranks
     * @param last        what becomes of the last samples of an epoch
     * @param rank        this rank
     * @param worldSize   number of ranks
     * @return the sampler
     * @throws IllegalArgumentException if there is no sample, or there is no such rank
     */
    public static RankSampler of(long sampleCount, long seed, LastSamples last, int rank, int worldSize) {
        Objects.requireNonNull(last, "last");
        if (sampleCount < 1) {
            throw new IllegalArgumentException("need at least one sample, found " + sampleCount);
        }
        if (rank < 0 || rank >= worldSize) {
            throw new IllegalArgumentException(
                    "need a rank from 0 to below the world size, found rank " + rank + " of world size " + worldSize);
        }
        return new RankSampler(sampleCount, seed, last, rank, worldSize);
    }

    /**
     * Starts an epoch at its first sample. All ranks start the same one.
     *
     * @param number of the epoch
     * @throws IllegalArgumentException if it is negative
     */
    public void startEpoch(long number) {
        startAt(number, 0);
    }

    private void startAt(long number, long from) {
        if (number < 0) {
            throw new IllegalArgumentException("need an epoch from 0 on, found " + number);
        }
        epoch = number;
        position = from;
        order = new SampleOrder(sampleCount, seed, number);
    }

    /**
     * Returns the current epoch.
     *
     * @return 0 or more
     */
    public long epoch() {
        return epoch;
    }

    /**
     * Returns how many samples of the epoch the whole job has taken when all ranks have taken as many as this one.
     *
     * @return 0 to the number of samples
     */
    public long position() {
        return last == LastSamples.UNEVEN && remaining() == 0 ? sampleCount : position;
    }

    /**
     * Returns how many samples of the epoch this rank has still to take.
     *
     * @return 0 at the end; the same on all ranks unless the last samples are {@link LastSamples#UNEVEN}
     */
    public long remaining() {
        long left = sampleCount - position;
        return switch (last) {
            case DROP -> left / worldSize;
            case PAD -> left == 0 ? 0 : (left - 1) / worldSize + 1;
            case UNEVEN -> left <= rank ? 0 : (left - rank - 1) / worldSize + 1;
        };
    }

    /**
     * Takes the next sample.
     *
     * @return index of a sample, 0 to below the number of samples
     * @throws NoSuchElementException if the epoch has ended for this rank
     */
    public long next() {
        if (remaining() == 0) {
            throw new NoSuchElementException(
                    "epoch " + epoch + " of " + sampleCount + " samples has ended for rank " + rank + " of " + worldSize
                            + " at position " + position() + ": call startEpoch(" + (epoch + 1) + ")");
        }
        long left = sampleCount - position;
        long place = rank < left ? position + rank : (rank - left) % sampleCount;
        position = left <= worldSize ? sampleCount : position + worldSize;
        return order.sampleAt(place);
    }

    /**
     * Takes the next samples.
     *
     * @param size how many, the same on all ranks
     * @return indices of samples; fewer than asked for at the end of the epoch, and none after it
     * @throws IllegalArgumentException if the size is not positive
     */
    public long[] nextBatch(int size) {
        if (size < 1) {
            throw new IllegalArgumentException("need a batch of at least one sample, found " + size);
        }
        long[] batch = new long[(int) Math.min(size, remaining())];
        for (int i = 0; i < batch.length; i++) {
            batch[i] = next();
        }
        return batch;
    }

    /**
     * Returns what a checkpoint keeps. It is the same on all ranks that have taken equally many samples; with
     * {@link LastSamples#UNEVEN} that of rank 0 counts, which takes the most.
     *
     * @return texts by name, all beginning with {@code sampler.}
     */
    public Map<String, String> state() {
        Map<String, String> state = new LinkedHashMap<>();
        state.put(SAMPLES, Long.toString(sampleCount));
        state.put(SEED, Long.toString(seed));
        state.put(ORDER, SampleOrder.NAME);
        state.put(EPOCH, Long.toString(epoch));
        state.put(POSITION, Long.toString(position()));
        return state;
    }

    /**
     * Continues where a sampler stood, also one of another number of ranks. What becomes of the last samples may differ, too.
     *
     * @param state of a sampler of the same samples and seed, among other texts
     * @throws IllegalArgumentException if a text is missing or makes no sense, or samples, seed or the way in which they are
     *     ordered differ; the sampler is unchanged then
     */
    public void restore(Map<String, String> state) {
        Objects.requireNonNull(state, "state");
        requireSame(state, SAMPLES, Long.toString(sampleCount));
        requireSame(state, SEED, Long.toString(seed));
        requireSame(state, ORDER, SampleOrder.NAME);
        long number = number(state, EPOCH);
        long from = number(state, POSITION);
        if (from < 0 || from > sampleCount) {
            throw new IllegalArgumentException(
                    POSITION + "=" + from + ": need a position from 0 to " + sampleCount + ", the number of samples");
        }
        startAt(number, from);
    }

    private static void requireSame(Map<String, String> state, String name, String own) {
        String found = state.get(name);
        if (!own.equals(found)) {
            throw new IllegalArgumentException(name + " is " + found + " in the state and " + own
                    + " in this sampler: samples and orders would differ from those before, so make the sampler as it was, or"
                    + " start an epoch instead");
        }
    }

    private static long number(Map<String, String> state, String name) {
        String found = state.get(name);
        try {
            return Long.parseLong(String.valueOf(found));
        } catch (NumberFormatException noNumber) {
            throw new IllegalArgumentException(name + ": need a whole number in the state, found " + found, noNumber);
        }
    }

    @Override
    public String toString() {
        return "rank " + rank + " of " + worldSize + " at " + position() + " of " + sampleCount + " samples of epoch "
                + epoch;
    }
}
