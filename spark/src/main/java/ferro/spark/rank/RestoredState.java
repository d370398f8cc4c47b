package ferro.spark.rank;

import java.util.Objects;

/**
 * The state that a rank saved at one step.
 *
 * @param step  the step at which the rank saved the state
 * @param state the bytes that this rank saved
 */
public record RestoredState(long step, byte[] state) {
    /**
     * Creates a restored state.
     *
     * @param step  the step at which the rank saved the state
     * @param state the bytes that this rank saved
     */
    public RestoredState {
        Objects.requireNonNull(state, "state");
    }
}
