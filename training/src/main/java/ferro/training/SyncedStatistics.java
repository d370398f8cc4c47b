package ferro.training;

import ferro.group.ProcessGroup;
import java.util.Objects;

/**
 * Statistics of a batch over all ranks, for batch normalization: each rank has the moments of its own samples, and all get those
 * of the global batch.
 *
 * <p>Ranks may have unequally many values. The moments are combined pairwise in rank order, in double, on every rank alike, so
 * that all ranks have the same bits.
 *
 * <p>Every call is a collective of the group. The backward pass needs sums over all ranks, which
 * {@code group.allReduce(double[], ReduceOp.SUM)} gives.
 */
public final class SyncedStatistics {
    private final ProcessGroup group;
    private final int channels;

    private SyncedStatistics(ProcessGroup group, int channels) {
        this.group = group;
        this.channels = channels;
    }

    /**
     * Makes the statistics of one layer.
     *
     * @param group    ranks that share a batch
     * @param channels number of channels, the same on every rank
     * @return statistics
     * @throws IllegalArgumentException if there is no channel
     */
    public static SyncedStatistics of(ProcessGroup group, int channels) {
        Objects.requireNonNull(group, "group");
        return new SyncedStatistics(group, Moments.none(channels).channels());
    }

    /**
     * Combines the moments of all ranks, by one all-gather of {@code 1 + 2 * channels} numbers.
     *
     * @param own moments of this rank's values
     * @return moments of all values, with the same bits on all ranks
     * @throws IllegalArgumentException if {@code own} has another number of channels
     * @throws IllegalStateException    if the group is closed
     * @throws ferro.FerroException     if the group fails or has failed; MISMATCH if numbers of channels differ
     */
    public Moments combine(Moments own) {
        if (Objects.requireNonNull(own, "own").channels() != channels) {
            throw new IllegalArgumentException("statistics of " + channels + " channels on rank " + group.rank()
                    + " of " + group.worldSize() + ": need moments of as many, found " + own.channels());
        }
        int length = 1 + 2 * channels;
        double[] mine = new double[length];
        own.write(mine);
        double[] all = new double[length * group.worldSize()];
        group.allGather(mine, all);
        Moments combined = Moments.none(channels);
        for (int rank = 0; rank < group.worldSize(); rank++) {
            combined = combined.with(Moments.read(all, rank * length, channels));
        }
        return combined;
    }

    /**
     * Takes part in one {@link #combine} of the other ranks with no values, as a rank does that has run out of samples.
     *
     * @throws IllegalStateException if the group is closed
     * @throws ferro.FerroException  if the group fails or has failed; MISMATCH if numbers of channels differ
     */
    public void takePartWithoutData() {
        combine(Moments.none(channels));
    }
}
