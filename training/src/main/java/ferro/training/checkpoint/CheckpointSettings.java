package ferro.training.checkpoint;

import java.time.Duration;
import java.util.Objects;

/**
 * How checkpoints are saved. It must be the same on all ranks.
 *
 * @param keepLast how many checkpoints stay, the new one included; 0 for all
 * @param deadline how long a rank waits for the others in a save or a load
 * @param visibleWithin how long rank 0 looks for a part that another rank has written, as an NFS may show it late
 * @param compareRanks whether a save compares a hash of each tensor that several ranks hold
 */
public record CheckpointSettings(int keepLast, Duration deadline, Duration visibleWithin, boolean compareRanks) {
    /** All checkpoints stay, ranks wait an hour for each other and compare hashes, and rank 0 looks for a part for 10 s. */
    public static final CheckpointSettings DEFAULT =
            new CheckpointSettings(0, Duration.ofHours(1), Duration.ofSeconds(10), true);

    private static final int FEWEST_KEPT = 2;

    /**
     * Checks the values.
     *
     * @param keepLast how many checkpoints stay; 0 for all
     * @param deadline how long a rank waits for the others
     * @param visibleWithin how long rank 0 looks for a part
     * @param compareRanks whether a save compares a hash of each tensor that several ranks hold
     * @throws IllegalArgumentException if fewer than two are to stay, the deadline is not positive, or the other time is negative
     */
    public CheckpointSettings {
        Objects.requireNonNull(deadline, "deadline");
        Objects.requireNonNull(visibleWithin, "visibleWithin");
        if (keepLast != 0 && keepLast < FEWEST_KEPT) {
            throw new IllegalArgumentException("need at least " + FEWEST_KEPT
                    + " checkpoints that stay, so that a good one is left if the last is damaged, or 0 for all, found "
                    + keepLast);
        }
        if (deadline.isZero() || deadline.isNegative() || visibleWithin.isNegative()) {
            throw new IllegalArgumentException(
                    "need a positive deadline, and no negative time to look for parts, found " + deadline + " and "
                            + visibleWithin);
        }
    }

    /**
     * Changes how many checkpoints stay. Older ones are deleted after a newer one was published.
     *
     * @param count at least 2; 0 for all
     * @return settings with this count
     * @throws IllegalArgumentException if it is negative or 1
     */
    public CheckpointSettings withKeepLast(int count) {
        return new CheckpointSettings(count, deadline, visibleWithin, compareRanks);
    }

    /**
     * Changes how long a rank waits for the others. All ranks write in this time.
     *
     * @param limit a positive time
     * @return settings with this time
     * @throws IllegalArgumentException if it is zero or negative
     */
    public CheckpointSettings withDeadline(Duration limit) {
        return new CheckpointSettings(keepLast, limit, visibleWithin, compareRanks);
    }

    /**
     * Changes how long rank 0 looks for a part that another rank has written.
     *
     * @param limit a time from zero on
     * @return settings with this time
     * @throws IllegalArgumentException if it is negative
     */
    public CheckpointSettings withVisibleWithin(Duration limit) {
        return new CheckpointSettings(keepLast, deadline, limit, compareRanks);
    }

    /**
     * Changes whether a save compares what several ranks hold: parameters, and the same elements of state. Each rank reads them once
     * more, and ranks exchange 8 bytes of hash for each tensor. Without it a checkpoint of ranks that differ mixes their tensors.
     *
     * @param compared true for a comparison before each save
     * @return settings with or without it
     */
    public CheckpointSettings withCompareRanks(boolean compared) {
        return new CheckpointSettings(keepLast, deadline, visibleWithin, compared);
    }
}
