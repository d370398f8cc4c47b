package ferro.training;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Objects;

/**
 * Chooses the samples that a rank takes in each epoch. The seed and the epoch determine the order of the samples. The
 * sampler communicates nothing and stores no array of indices.
 *
 * <p>The position counts samples of the whole job. At position p, rank r of n ranks takes sample number p + r of the
 * order, and all ranks advance to position p + n. If all ranks take the same number of samples, all samples together
 * are one contiguous range of the order, for any n. {@link #restore} can therefore continue at a position with another
 * number of ranks. Each sample of the epoch is then still taken exactly once, except for the last samples, which
 * {@link LastSamples} describes.
 *
 * <p>{@link #nextBatch} takes several samples at once. The size of the global batch is the batch size of one rank times
 * the number of ranks. A global batch holds the same samples for every number of ranks that divides its size.
 *
 * <p>One thread at a time may use a sampler.
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

    /** The treatment of the last samples of an epoch if fewer samples than ranks remain. */
    public enum LastSamples {
        /** No rank takes the last samples. At most {@code worldSize - 1} samples are left out. */
        DROP,
        /**
         * Ranks without a sample take the first samples of the epoch again, so that all ranks take the same number of
         * samples.
         */
        PAD,
        /**
         * Every sample is taken exactly once. Some ranks take one sample more than other ranks, so ranks may end the
         * epoch at different steps.
         */
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
     * Creates a sampler at the start of epoch 0.
     *
     * @param sampleCount number of samples of the data set, the same on all ranks
     * @param seed seed of the sample orders, the same on all ranks
     * @param last the treatment of the last samples of an epoch
     * @param rank this rank
     * @param worldSize number of ranks
     * @return sampler
     * @throws IllegalArgumentException if {@code sampleCount} is not positive, or if the rank is not from 0 to
     *     {@code worldSize - 1}
     */
    public static RankSampler of(long sampleCount, long seed, LastSamples last, int rank, int worldSize) {
        Objects.requireNonNull(last, "last");
        if (sampleCount < 1) {
            throw new IllegalArgumentException("need at least one sample, found " + sampleCount);
        }
        if (rank < 0 || rank >= worldSize) {
            throw new IllegalArgumentException("need a rank of at least 0 and less than the world size, found rank "
                    + rank + " of world size " + worldSize);
        }
        return new RankSampler(sampleCount, seed, last, rank, worldSize);
    }

    /**
     * Starts an epoch at its first sample. All ranks must start the same epoch.
     *
     * @param number number of the epoch, from 0
     * @throws IllegalArgumentException if the number is negative
     */
    public void startEpoch(long number) {
        startAt(number, 0);
    }

    private void startAt(long number, long from) {
        if (number < 0) {
            throw new IllegalArgumentException("need an epoch of at least 0, found " + number);
        }
        epoch = number;
        position = from;
        order = new SampleOrder(sampleCount, seed, number);
    }

    /** {@return the number of the current epoch, 0 or more} */
    public long epoch() {
        return epoch;
    }

    /**
     * {@return the number of samples of this epoch that the whole job has taken, once all ranks have taken as many
     * samples as this rank; from 0 to the number of samples of the data set}
     */
    public long position() {
        return last == LastSamples.UNEVEN && remaining() == 0 ? sampleCount : position;
    }

    /**
     * {@return the number of samples of this epoch that this rank has not taken yet, 0 at the end of the epoch; the
     * number is the same on all ranks except with {@link LastSamples#UNEVEN}}
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
     * @return index of a sample, from 0 to {@code sampleCount - 1}
     * @throws NoSuchElementException if the epoch has ended for this rank
     */
    public long next() {
        if (remaining() == 0) {
            throw new NoSuchElementException(
                    "epoch " + epoch + " of " + sampleCount + " samples has ended for rank " + rank + " of " + worldSize
                            + " at position " + position() + ": call startEpoch(" + (epoch + 1) + ")");
        }
        long left = sampleCount - position;
        long index = rank < left ? position + rank : (rank - left) % sampleCount;
        position = left <= worldSize ? sampleCount : position + worldSize;
        return order.sampleAt(index);
    }

    /**
     * Takes the next samples.
     *
     * @param size number of samples, the same on all ranks
     * @return indices of samples; fewer than {@code size} indices at the end of the epoch, and no index after the end
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
     * {@return the state to save in a checkpoint: texts by name; each name begins with {@code sampler.}. Ranks that
     * have taken the same number of samples return the same state. With {@link LastSamples#UNEVEN}, save the state of
     * rank 0, which takes the most samples}
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
     * Continues at the position of a saved sampler. The saved sampler may have had another number of ranks and another
     * {@link LastSamples} value.
     *
     * @param state state of a sampler with the same samples and seed; the map may contain other texts
     * @throws IllegalArgumentException if a text is missing or not a valid number, or if the number of samples, the
     *     seed or the ordering method differs; the sampler is then unchanged
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
                    + " in this sampler, so the sampler would take other samples: create it with the value of the state, or"
                    + " call startEpoch instead");
        }
    }

    private static long number(Map<String, String> state, String name) {
        String found = state.get(name);
        try {
            return Long.parseLong(String.valueOf(found));
        } catch (NumberFormatException noNumber) {
            throw new IllegalArgumentException(name + ": need an integer in the state, found " + found, noNumber);
        }
    }

    @Override
    public String toString() {
        return "rank " + rank + " of " + worldSize + " at " + position() + " of " + sampleCount + " samples of epoch "
                + epoch;
    }
}
