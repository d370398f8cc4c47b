package ferro.launcher.input;

import java.time.Duration;
import java.util.Optional;

/**
 * How often a job may start again ({@code --restarts}, {@code --restart-window}).
 *
 * @param max    restarts of the job on all nodes together; 0 for a job that never starts again
 * @param window only failures in this time before a failure count; empty if all failures count
 */
public record Restarts(int max, Optional<Duration> window) {
    public static final Restarts NONE = new Restarts(0, Optional.empty());

    private static final String OPTION = "--restarts";

    /** Refuses what makes no sense. */
    public Restarts {
        if (max < 0) {
            throw new BadInputException(OPTION + " " + max + ": need a number of restarts of 0 or more");
        }
        if (max == 0 && window.isPresent()) {
            throw new BadInputException(
                    "--restart-window " + text(window.get()) + " needs " + OPTION + " with a number of 1 or more");
        }
    }

    /** Whether the job may start again. */
    public boolean areAny() {
        return max > 0;
    }

    /** Returns the window in words, for example {@code  in 1h}; empty text if all failures count. */
    public String within() {
        return window.map(time -> " in " + text(time)).orElse("");
    }

    /** Returns it as launchers compare it, for example {@code 3} or {@code 3 in 1h}; empty text for no restarts. */
    public String compared() {
        return areAny() ? max + within() : "";
    }

    /** Returns a time as the options take it. */
    public static String text(Duration time) {
        long millis = time.toMillis();
        if (millis % 3_600_000 == 0) {
            return millis / 3_600_000 + "h";
        }
        if (millis % 60_000 == 0) {
            return millis / 60_000 + "m";
        }
        return millis % 1000 == 0 ? millis / 1000 + "s" : millis + "ms";
    }
}
