package ferro.training.checkpoint;

import java.time.Duration;
import java.util.List;
import java.util.Objects;

/**
 * The settings of saves and loads. The settings must be equal on all ranks. If {@code keepLast} or {@code compareRanks}
 * differs between ranks, a save fails on all ranks.
 */
public final class CheckpointSettings {
    /**
     * The default settings. All checkpoints are kept. Ranks wait up to one hour for each other. A rank waits up to 10 s
     * for a file of another rank. Ranks compare hashes.
     */
    public static final CheckpointSettings DEFAULT =
            new CheckpointSettings(0, Duration.ofHours(1), Duration.ofSeconds(10), true);

    private static final int FEWEST_KEPT = 2;

    private final int keepLast;
    private final Duration deadline;
    private final Duration visibleWithin;
    private final boolean compareRanks;

    private CheckpointSettings(int keepLast, Duration deadline, Duration visibleWithin, boolean compareRanks) {
        Objects.requireNonNull(deadline, "deadline");
        Objects.requireNonNull(visibleWithin, "visibleWithin");
        if (keepLast != 0 && keepLast < FEWEST_KEPT) {
            throw new IllegalArgumentException("keepLast must be 0 to keep all checkpoints, or at least " + FEWEST_KEPT
                    + ", so that an older checkpoint is left if the latest one is damaged, found " + keepLast);
        }
        if (deadline.isZero() || deadline.isNegative() || visibleWithin.isNegative()) {
            throw new IllegalArgumentException(
                    "need a positive deadline, and a visibleWithin that is not negative, found " + deadline + " and "
                            + visibleWithin);
        }
        this.keepLast = keepLast;
        this.deadline = deadline;
        this.visibleWithin = visibleWithin;
        this.compareRanks = compareRanks;
    }

    /** {@return how many checkpoints are kept, including the new one; 0 keeps all checkpoints} */
    public int keepLast() {
        return keepLast;
    }

    /** {@return how long a rank waits for the other ranks in a save or a load} */
    public Duration deadline() {
        return deadline;
    }

    /**
     * {@return how long a rank waits until it can read a file that another rank has written; NFS may show a file late}
     */
    public Duration visibleWithin() {
        return visibleWithin;
    }

    /** {@return whether a save compares a hash of each tensor that several ranks hold} */
    public boolean compareRanks() {
        return compareRanks;
    }

    /**
     * Changes how many checkpoints are kept. Older checkpoints are deleted after a newer one has been published.
     *
     * @param count the number of checkpoints to keep: at least 2, or 0 to keep all checkpoints
     * @return settings with this count
     * @throws IllegalArgumentException if {@code count} is negative or 1
     */
    public CheckpointSettings withKeepLast(int count) {
        return new CheckpointSettings(count, deadline, visibleWithin, compareRanks);
    }

    /**
     * Changes how long a rank waits for the other ranks. Each rank must write its files within this time.
     *
     * @param limit a positive time
     * @return settings with this time
     * @throws IllegalArgumentException if {@code limit} is zero or negative
     */
    public CheckpointSettings withDeadline(Duration limit) {
        return new CheckpointSettings(keepLast, limit, visibleWithin, compareRanks);
    }

    /**
     * Changes how long a rank waits until it can read a file that another rank has written.
     *
     * @param limit a time of zero or more
     * @return settings with this time
     * @throws IllegalArgumentException if {@code limit} is negative
     */
    public CheckpointSettings withVisibleWithin(Duration limit) {
        return new CheckpointSettings(keepLast, deadline, limit, compareRanks);
    }

    /**
     * Changes whether a save compares the tensors that several ranks hold: all parameters, and state ranges that
     * several ranks have. For the comparison each rank reads these tensors once more, and ranks exchange a hash of 8
     * bytes for each tensor. Without the comparison, a checkpoint of ranks that differ contains tensors of different
     * ranks that do not fit together.
     *
     * @param compared true to compare before each save
     * @return settings with or without the comparison
     */
    public CheckpointSettings withCompareRanks(boolean compared) {
        return new CheckpointSettings(keepLast, deadline, visibleWithin, compared);
    }

    @Override
    public String toString() {
        return "CheckpointSettings[keepLast=" + keepLast + ", deadline=" + deadline + ", visibleWithin=" + visibleWithin
                + ", compareRanks=" + compareRanks + "]";
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof CheckpointSettings that && values().equals(that.values());
    }

    @Override
    public int hashCode() {
        return values().hashCode();
    }

    private List<Object> values() {
        return List.of(keepLast, deadline, visibleWithin, compareRanks);
    }
}
