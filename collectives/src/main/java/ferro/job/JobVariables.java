package ferro.job;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * The job of this process according to its variables.
 *
 * @param job     rank and job of this process; empty if no variables give them, or if those are refused
 * @param seen    every launcher whose variables are set, the chosen one first
 * @param refusal the error and how to fix it
 * @param line    rank of this process and the other launchers seen, for a person to read; empty without a job
 */
public record JobVariables(Optional<RankOfJob> job, List<Sighting> seen, Optional<String> refusal, String line) {
    /**
     * Rejects null.
     *
     * @param job     rank and job of this process
     * @param seen    every launcher whose variables are set
     * @param refusal the error
     * @param line    for a person to read
     */
    public JobVariables {
        Objects.requireNonNull(job, "job");
        seen = List.copyOf(seen);
        Objects.requireNonNull(refusal, "refusal");
        Objects.requireNonNull(line, "line");
    }

    /**
     * Returns the job and the rank of this process.
     *
     * @return job
     * @throws IllegalArgumentException if no variables give them, or those are refused; the message has the variables,
     *     their values and how to fix it
     */
    public RankOfJob required() {
        return job.orElseThrow(
                () -> new IllegalArgumentException(refusal.orElse("this process does not know its rank")));
    }
}
