package ferro.job;

import java.util.Objects;

/**
 * A launcher whose variables are set.
 *
 * @param family    launcher that set the variables
 * @param variables variables that give the rank of this process, as {@code NAME=value}
 * @param complete  whether the variables give the rank of this process; the variables of an allocation without a task
 *     do not give the rank
 * @param verdict   {@code chosen}, or the reason why the launcher is not chosen
 */
public record DetectedLauncher(LauncherKind family, String variables, boolean complete, String verdict) {
    /**
     * Rejects null.
     *
     * @param family    launcher that set the variables
     * @param variables variables that give the rank of this process
     * @param complete  whether the variables give the rank
     * @param verdict   {@code chosen}, or why the launcher is not chosen
     */
    public DetectedLauncher {
        Objects.requireNonNull(family, "family");
        Objects.requireNonNull(variables, "variables");
        Objects.requireNonNull(verdict, "verdict");
    }
}
