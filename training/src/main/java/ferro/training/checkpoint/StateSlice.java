package ferro.training.checkpoint;

import ferro.HostTensor;
import ferro.spi.SurrogateCheck;
import java.util.Objects;

/** A range of elements of one state that an optimizer keeps for a parameter. */
public final class StateSlice {
    private final String state;
    private final String parameter;
    private final long from;
    private final HostTensor values;

    private StateSlice(String state, String parameter, long from, HostTensor values) {
        Objects.requireNonNull(state, "state");
        Objects.requireNonNull(parameter, "parameter");
        Objects.requireNonNull(values, "values");
        if (state.isBlank() || state.indexOf('/') >= 0) {
            throw new IllegalArgumentException("the name of a state of parameter " + parameter
                    + " must not be blank or contain a slash, found \"" + state + "\"");
        }
        SurrogateCheck.refuseHalves("the name of state \"" + state + "\"", state);
        SurrogateCheck.refuseHalves("the name of parameter \"" + parameter + "\"", parameter);
        if (from < 0) {
            throw new IllegalArgumentException(
                    "the first element of state " + state + " of " + parameter + " must be 0 or more, found " + from);
        }
        this.state = state;
        this.parameter = parameter;
        this.from = from;
        this.values = values;
    }

    /**
     * Creates a range of a state.
     *
     * @param state the name of the state, such as {@code exp_avg}; the name contains no slash
     * @param parameter the name of the parameter
     * @param from the index of the first element in the flattened parameter
     * @param values the elements, usually f32 or f64; a save reads the elements, and a load writes the elements
     * @return range
     * @throws IllegalArgumentException if {@code from} is negative, if the name of the state is blank or contains a
     *     slash, or if one of the names contains half of a surrogate pair
     */
    public static StateSlice of(String state, String parameter, long from, HostTensor values) {
        return new StateSlice(state, parameter, from, values);
    }

    /** {@return the name of the state, such as {@code exp_avg}; the name contains no slash} */
    public String state() {
        return state;
    }

    /** {@return the name of the parameter} */
    public String parameter() {
        return parameter;
    }

    /** {@return the index of the first element in the flattened parameter} */
    public long from() {
        return from;
    }

    /** {@return the elements, usually f32 or f64; a save reads the elements, and a load writes the elements} */
    public HostTensor values() {
        return values;
    }

    @Override
    public String toString() {
        return "StateSlice[state=" + state + ", parameter=" + parameter + ", from=" + from + ", values=" + values + "]";
    }
}
