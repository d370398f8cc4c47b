package ferro.spark.rank;

import java.util.Objects;

/**
 * State that a rank saved.
 *
 * @param step  step that it was saved with
 * @param state bytes of this rank
 */
public record RestoredState(long step, byte[] state) {
    /**
     * Makes a state.
     *
     * @param step  step that it was saved with
     * @param state bytes of this rank
     */
    public RestoredState {
        Objects.requireNonNull(state, "state");
    }
}
