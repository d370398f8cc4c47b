package ferro.job;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * What the variables of this process say of its job.
 *
 * @param job     who this process is; empty if nothing says so, or if what says so is refused
 * @param seen    every launcher whose variables are there, the chosen one first
 * @param refusal what is wrong, and the way out
 * @param line    who this process is and who else was seen, for a person to read; empty without a job
 */
public record Findings(Optional<Job> job, List<Sighting> seen, Optional<String> refusal, String line) {
    /**
     * Refuses null.
     *
     * @param job     who this process is
     * @param seen    every launcher whose variables are there
     * @param refusal what is wrong
     * @param line    for a person to read
     */
    public Findings {
        Objects.requireNonNull(job, "job");
        seen = List.copyOf(seen);
        Objects.requireNonNull(refusal, "refusal");
        Objects.requireNonNull(line, "line");
    }

    /**
     * Returns who this process is.
     *
     * @return job
     * @throws IllegalArgumentException if nothing says so, or what says so is refused: with the variables, their values and
     *     the way out
     */
    public Job required() {
        return job.orElseThrow(
                () -> new IllegalArgumentException(refusal.orElse("this process does not know its rank")));
    }
}
