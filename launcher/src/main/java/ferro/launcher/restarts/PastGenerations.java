package ferro.launcher.restarts;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The generations of a job that have ended, as the end of the job prints them. Not thread-safe. */
public final class PastGenerations {
    /** Older generations are left out: a job may fail for weeks. */
    private static final int MAX_LINES = 20;

    private final List<PastGeneration> ended = new ArrayList<>();

    /**
     * One generation.
     *
     * @param number     from 0
     * @param seconds    from the start of its ranks to the end of all of them
     * @param cause      how it ended
     * @param checkpoint last checkpoint that it published; empty text if none is known
     */
    public record PastGeneration(int number, double seconds, String cause, String checkpoint) {
        /** Returns this generation in one line. */
        public String line() {
            return String.format(Locale.ROOT, "generation %d: %.1f s, %s", number, seconds, cause)
                    + (checkpoint.isEmpty() ? "" : ", last checkpoint " + checkpoint);
        }
    }

    /** Adds the generation that has just ended. */
    public void add(PastGeneration generation) {
        ended.add(generation);
    }

    /** Returns one line for each generation, oldest first. */
    public List<String> lines() {
        List<String> lines = new ArrayList<>();
        int hidden = Math.max(0, ended.size() - MAX_LINES);
        if (hidden > 0) {
            lines.add(hidden + (hidden == 1 ? " earlier generation is" : " earlier generations are") + " not shown");
        }
        ended.subList(hidden, ended.size()).forEach(one -> lines.add(one.line()));
        return lines;
    }
}
