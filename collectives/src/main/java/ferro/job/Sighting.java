package ferro.job;

import java.util.Objects;

/**
 * A launcher whose variables are there.
 *
 * @param family    whose
 * @param variables the ones that say who this process is, as {@code NAME=value}
 * @param complete  whether they say who this process is; an allocation without a task says nothing
 * @param verdict   {@code chosen}, or why it is not
 */
public record Sighting(Family family, String variables, boolean complete, String verdict) {
    /**
     * Refuses null.
     *
     * @param family    whose
     * @param variables the ones that say who this process is
     * @param complete  whether they do
     * @param verdict   what became of it
     */
    public Sighting {
        Objects.requireNonNull(family, "family");
        Objects.requireNonNull(variables, "variables");
        Objects.requireNonNull(verdict, "verdict");
    }
}
