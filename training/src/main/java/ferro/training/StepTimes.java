package ferro.training;

import java.time.Duration;
import java.util.Objects;

/**
 * The communication time of one step on one rank.
 *
 * @param waited time in which the step only waited for communication
 * @param hidden time in which a bucket was in flight while this rank did something else
 */
public record StepTimes(Duration waited, Duration hidden) {
    /** Times of a step that does not communicate. */
    static final StepTimes NONE = new StepTimes(Duration.ZERO, Duration.ZERO);

    /**
     * Checks that neither value is null.
     *
     * @param waited time in which the step only waited for communication
     * @param hidden time in which a bucket was in flight while this rank did something else
     */
    public StepTimes {
        Objects.requireNonNull(waited, "waited");
        Objects.requireNonNull(hidden, "hidden");
    }
}
