package ferro.job;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** The job of this process, as the environment variables of a launcher describe it. */
public final class JobVariables {
    private final Optional<RankOfJob> job;
    private final List<DetectedLauncher> seen;
    private final Optional<String> refusal;
    private final String line;

    JobVariables(Optional<RankOfJob> job, List<DetectedLauncher> seen, Optional<String> refusal, String line) {
        this.job = job;
        this.seen = List.copyOf(seen);
        this.refusal = refusal;
        this.line = line;
    }

    /**
     * {@return the rank and job of this process; empty if no variables give a rank and a job, or if the variables are
     * refused}
     */
    public Optional<RankOfJob> job() {
        return job;
    }

    /** {@return every launcher whose variables are set, with the chosen launcher first} */
    public List<DetectedLauncher> seen() {
        return seen;
    }

    /** {@return the error and a remedy; empty if a job was found} */
    public Optional<String> refusal() {
        return refusal;
    }

    /** {@return a text with the rank of this process and the other launchers that were found; empty without a job} */
    public String line() {
        return line;
    }

    /**
     * Returns the job and the rank of this process.
     *
     * @return job
     * @throws IllegalArgumentException if no variables give the rank and the job, or if the variables are refused; the
     *     message has the variables, their values and a remedy; the stack trace begins at the caller of ferro
     */
    public RankOfJob required() {
        if (job.isEmpty()) {
            throw ofCaller(new IllegalArgumentException(refusal.orElse("this process does not know its rank")));
        }
        return job.get();
    }

    /** Removes the stack frames of ferro, which do not help to find a wrong variable. */
    private static IllegalArgumentException ofCaller(IllegalArgumentException wrong) {
        StackTraceElement[] frames = wrong.getStackTrace();
        int first = 0;
        while (first < frames.length - 1 && isOfJoin(frames[first].getClassName())) {
            first++;
        }
        wrong.setStackTrace(Arrays.copyOfRange(frames, first, frames.length));
        return wrong;
    }

    private static boolean isOfJoin(String className) {
        return className.startsWith("ferro.job.") || className.startsWith("ferro.group.");
    }

    @Override
    public String toString() {
        return "JobVariables" + values();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof JobVariables that && values().equals(that.values());
    }

    @Override
    public int hashCode() {
        return values().hashCode();
    }

    private List<String> values() {
        return List.of("job=" + job, "seen=" + seen, "refusal=" + refusal, "line=" + line);
    }
}
