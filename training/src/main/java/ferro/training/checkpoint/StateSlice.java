package ferro.training.checkpoint;

import ferro.HostTensor;
import ferro.spi.Surrogates;
import java.util.Objects;

/**
 * Some elements of what an optimizer remembers of a parameter.
 *
 * @param state what it is, such as {@code exp_avg}; without a slash
 * @param parameter the name of the parameter
 * @param from the first element, counted in the parameter as one row
 * @param values the elements, f32 or f64; a save reads them, a load writes them
 */
public record StateSlice(String state, String parameter, long from, HostTensor values) {
    /**
     * Checks the range.
     *
     * @param state what it is
     * @param parameter the name of the parameter
     * @param from the first element, counted in the parameter as one row
     * @param values the elements
     * @throws IllegalArgumentException if {@code from} is negative, the state has no name or a slash in it, or a name has half of a
     *     surrogate pair
     */
    public StateSlice {
        Objects.requireNonNull(state, "state");
        Objects.requireNonNull(parameter, "parameter");
        Objects.requireNonNull(values, "values");
        if (state.isBlank() || state.indexOf('/') >= 0) {
            throw new IllegalArgumentException(
                    "state of " + parameter + ": need a name without a slash, found \"" + state + "\"");
        }
        Surrogates.refuseHalves("the name of state \"" + state + "\"", state);
        Surrogates.refuseHalves("the name of parameter \"" + parameter + "\"", parameter);
        if (from < 0) {
            throw new IllegalArgumentException(
                    "state " + state + " of " + parameter + ": need a first element from 0 on, found " + from);
        }
    }
}
