package ferro.launcher.input;

import java.time.Duration;
import java.util.Optional;

/**
 * How often a job may start again ({@code --restarts}, {@code --restart-window}).
 *
 * @param max    largest number of restarts of the job; 0 for a job that never starts again
 * @param window time before the newest failure in which earlier failures count; empty if all failures count
 */
public record RestartLimit(int max, Optional<Duration> window) {
    public static final RestartLimit NONE = new RestartLimit(0, Optional.empty());

    private static final String OPTION = "--restarts";

    /** Checks the limits. */
    public RestartLimit {
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

    /** Returns a text about the window, such as {@code in 1h}, after a space; empty if all failures count. */
    public String within() {
        return window.map(time -> " in " + text(time)).orElse("");
    }

    /** Returns the limits in the form that launchers compare, such as {@code 3} or {@code 3 in 1h}, or empty. */
    public String compared() {
        return areAny() ? max + within() : "";
    }

    /** Returns a duration in the format of the options. */
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
