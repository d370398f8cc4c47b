package ferro.job;

import java.util.Objects;

/**
 * A launcher whose variables are set.
 *
 * @param family    launcher that set the variables
 * @param variables those that give the rank of this process, as {@code NAME=value}
 * @param complete  whether they give the rank of this process; an allocation without a task does not
 * @param verdict   {@code chosen}, or why it is not
 */
public record Sighting(LauncherKind family, String variables, boolean complete, String verdict) {
    /**
     * Rejects null.
     *
     * @param family    launcher that set the variables
     * @param variables those that give the rank of this process
     * @param complete  whether they give it
     * @param verdict   {@code chosen}, or why it is not
     */
    public Sighting {
        Objects.requireNonNull(family, "family");
        Objects.requireNonNull(variables, "variables");
        Objects.requireNonNull(verdict, "verdict");
    }
}
