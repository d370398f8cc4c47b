package ferro.training.checkpoint;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * The settings of saves and loads. The settings must be equal on all ranks. If {@code keepLast} or {@code compareRanks}
 * differs between ranks, a save fails on all ranks.
 */
public final class CheckpointSettings {
    /**
     * The default settings. All checkpoints are kept. Saves and loads have the deadline of the group. A rank waits up
     * to 10 s for a file of another rank. Ranks compare hashes.
     */
    public static final CheckpointSettings DEFAULT =
            new CheckpointSettings(0, Optional.empty(), Duration.ofSeconds(10), true);

    private static final int FEWEST_KEPT = 2;

    private final int keepLast;
    private final Optional<Duration> deadline;
    private final Duration visibleWithin;
    private final boolean compareRanks;

    private CheckpointSettings(
            int keepLast, Optional<Duration> deadline, Duration visibleWithin, boolean compareRanks) {
        Objects.requireNonNull(visibleWithin, "visibleWithin");
        if (keepLast != 0 && keepLast < FEWEST_KEPT) {
            throw new IllegalArgumentException("keepLast must be 0 to keep all checkpoints, or at least " + FEWEST_KEPT
                    + ", so that an older checkpoint is left if the latest one is damaged, found " + keepLast);
        }
        if (deadline.filter(limit -> limit.isZero() || limit.isNegative()).isPresent() || visibleWithin.isNegative()) {
            throw new IllegalArgumentException(
                    "need a positive deadline, and a visibleWithin that is not negative, found "
                            + deadline.map(Duration::toString).orElse("no deadline") + " and " + visibleWithin);
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

    /** {@return how long a rank may make no progress in a save or a load; empty for the deadline of the group} */
    public Optional<Duration> deadline() {
        return deadline;
    }

    /** {@return how long a rank waits until it can read a file that another rank wrote; NFS may show a file late} */
    public Duration visibleWithin() {
        return visibleWithin;
    }

    /** {@return whether a save compares a hash of each tensor that is on several ranks} */
    public boolean compareRanks() {
        return compareRanks;
    }

    /**
     * Changes how many checkpoints are kept. Older checkpoints are deleted after a newer checkpoint has been published.
     *
     * @param count the number of checkpoints to keep: at least 2, or 0 to keep all checkpoints
     * @return settings with this count
     * @throws IllegalArgumentException if {@code count} is negative or 1
     */
    public CheckpointSettings withKeepLast(int count) {
        return new CheckpointSettings(count, deadline, visibleWithin, compareRanks);
    }

    /**
     * Changes how long a rank may make no progress in a save or a load. Without this call, the deadline of the group
     * applies ({@link ferro.group.ProcessGroup#timeout()}). Each call of the storage is progress. Each block of at most
     * 1 MiB of a file that is written or read is progress too. A save that makes progress may take longer than
     * {@code limit}.
     *
     * @param limit a positive time
     * @return settings with this time
     * @throws IllegalArgumentException if {@code limit} is zero or negative
     */
    public CheckpointSettings withDeadline(Duration limit) {
        return new CheckpointSettings(
                keepLast, Optional.of(Objects.requireNonNull(limit, "limit")), visibleWithin, compareRanks);
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
     * Changes whether a save compares the tensors that are on several ranks, which are all parameters, and state ranges
     * that several ranks have. For the comparison each rank reads the compared tensors once more, and ranks exchange a
     * hash of 8 bytes for each tensor. If ranks differ, a checkpoint without the comparison contains tensors of
     * different ranks that do not fit together.
     *
     * @param compared true to compare before each save
     * @return settings with or without the comparison
     */
    public CheckpointSettings withCompareRanks(boolean compared) {
        return new CheckpointSettings(keepLast, deadline, visibleWithin, compared);
    }

    @Override
    public String toString() {
        return "CheckpointSettings[keepLast=" + keepLast + ", deadline="
                + deadline.map(Duration::toString).orElse("of the group")
                + ", visibleWithin=" + visibleWithin
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
