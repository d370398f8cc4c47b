package ferro.training;

import java.time.Duration;
import java.util.Objects;

/**
 * How long the communication of one step took, as one rank saw it.
 *
 * @param waited time in which the step did nothing but wait for buckets
 * @param hidden time in which a bucket was under way while this rank did something else
 */
public record StepTimes(Duration waited, Duration hidden) {
    /** Those of a step that does not talk. */
    static final StepTimes NONE = new StepTimes(Duration.ZERO, Duration.ZERO);

    /**
     * Checks that both are given.
     *
     * @param waited time in which the step did nothing but wait for buckets
     * @param hidden time in which a bucket was under way while this rank did something else
     */
    public StepTimes {
        Objects.requireNonNull(waited, "waited");
        Objects.requireNonNull(hidden, "hidden");
    }
}
