package ferro.job;

import java.util.List;
import java.util.Objects;

/** A launcher whose variables are set. */
public final class DetectedLauncher {
    private final LauncherKind family;
    private final String variables;
    private final boolean complete;
    private final String verdict;

    DetectedLauncher(LauncherKind family, String variables, boolean complete, String verdict) {
        Objects.requireNonNull(family, "family");
        Objects.requireNonNull(variables, "variables");
        Objects.requireNonNull(verdict, "verdict");
        this.family = family;
        this.variables = variables;
        this.complete = complete;
        this.verdict = verdict;
    }

    /** {@return the launcher that set the variables} */
    public LauncherKind family() {
        return family;
    }

    /** {@return the variables that give the rank of this process, as {@code NAME=value}} */
    public String variables() {
        return variables;
    }

    /**
     * {@return whether the variables give the rank of this process; the variables of an allocation without a task do
     * not give the rank}
     */
    public boolean complete() {
        return complete;
    }

    /** {@return {@code chosen}, or the reason why the launcher is not chosen} */
    public String verdict() {
        return verdict;
    }

    @Override
    public String toString() {
        return "DetectedLauncher[family=" + family + ", variables=" + variables + ", complete=" + complete
                + ", verdict=" + verdict + "]";
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof DetectedLauncher that && values().equals(that.values());
    }

    @Override
    public int hashCode() {
        return values().hashCode();
    }

    private List<Object> values() {
        return List.of(family, variables, complete, verdict);
    }
}
