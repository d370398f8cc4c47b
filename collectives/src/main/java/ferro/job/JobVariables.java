package ferro.job;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * The job of this process, as the environment variables of a launcher describe it.
 *
 * @param job     rank and job of this process; empty if no variables give rank and job, or if the variables are refused
 * @param seen    every launcher whose variables are set, the chosen one first
 * @param refusal the error and how to fix it
 * @param line    text for people with the rank of this process and the other launchers seen; empty without a job
 */
public record JobVariables(
        Optional<RankOfJob> job, List<DetectedLauncher> seen, Optional<String> refusal, String line) {
    /**
     * Rejects null.
     *
     * @param job     rank and job of this process
     * @param seen    every launcher whose variables are set
     * @param refusal the error
     * @param line    text for people
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
     * @throws IllegalArgumentException if no variables give the rank and the job, or if the variables are refused; the
     *     message has the variables, their values and how to fix them
     */
    public RankOfJob required() {
        return job.orElseThrow(
                () -> new IllegalArgumentException(refusal.orElse("this process does not know its rank")));
    }
}
