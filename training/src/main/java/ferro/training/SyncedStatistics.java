package ferro.training;

import ferro.group.ProcessGroup;
import java.util.Objects;

/**
 * Batch statistics over all ranks, for synchronized batch normalization. Each rank passes in the moments of its own
 * samples and gets the moments of the global batch.
 *
 * <p>Ranks may have different numbers of values. Every rank combines the moments in rank order, pairwise and in double.
 * The results therefore have the same bits on all ranks.
 *
 * <p>{@link #combine} and {@link #takePartWithoutData} are collectives of the group. The backward pass needs sums over
 * all ranks, which {@code group.allReduce(double[], ReduceOp.SUM)} computes.
 */
public final class SyncedStatistics {
    private final ProcessGroup group;
    private final int channels;

    private SyncedStatistics(ProcessGroup group, int channels) {
        this.group = group;
        this.channels = channels;
    }

    /**
     * Creates the statistics of one layer.
     *
     * @param group ranks that share a batch
     * @param channels number of channels, the same on every rank
     * @return statistics
     * @throws IllegalArgumentException if {@code channels} is not positive
     */
    public static SyncedStatistics of(ProcessGroup group, int channels) {
        Objects.requireNonNull(group, "group");
        return new SyncedStatistics(group, Moments.none(channels).channels());
    }

    /**
     * Combines the moments of all ranks with one all-gather of {@code 1 + 2 * channels} numbers per rank.
     *
     * @param own moments of this rank's values
     * @return moments of the values of all ranks, with the same bits on all ranks
     * @throws IllegalArgumentException if {@code own} has another number of channels
     * @throws IllegalStateException if the group is closed
     * @throws ferro.FerroException if the group fails or has failed; MISMATCH if ranks have different numbers of
     *     channels
     */
    public Moments combine(Moments own) {
        if (Objects.requireNonNull(own, "own").channels() != channels) {
            throw new IllegalArgumentException(
                    "statistics of " + channels + " channels on rank " + group.rank() + " of " + group.worldSize()
                            + ": need moments of the same number of channels, found " + own.channels());
        }
        int length = 1 + 2 * channels;
        double[] ownValues = new double[length];
        own.write(ownValues);
        double[] all = new double[length * group.worldSize()];
        group.allGather(ownValues, all);
        Moments combined = Moments.none(channels);
        for (int rank = 0; rank < group.worldSize(); rank++) {
            combined = combined.with(Moments.read(all, rank * length, channels));
        }
        return combined;
    }

    /**
     * Takes part in one {@link #combine} of the other ranks without values. A rank that has run out of samples calls
     * this method.
     *
     * @throws IllegalStateException if the group is closed
     * @throws ferro.FerroException if the group fails or has failed; MISMATCH if ranks have different numbers of
     *     channels
     */
    public void takePartWithoutData() {
        combine(Moments.none(channels));
    }
}
