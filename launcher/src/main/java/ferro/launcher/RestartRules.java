package ferro.launcher;

import ferro.launcher.input.ExitCode;
import ferro.launcher.input.RestartLimit;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.LongSupplier;

/**
 * The rules that decide after a failed generation whether the job restarts. One object decides for all nodes. Not
 * thread-safe. docs/decisions/0058 gives the reasons.
 */
final class RestartRules {
    private static final long FIRST_WAIT_MILLIS = 1000;
    private static final long LONGEST_WAIT_MILLIS = 60_000;
    /** Largest number of doublings of the first wait. With more doublings, the wait would exceed the longest wait. */
    private static final int MAX_DOUBLINGS = 6;
    /** Largest number of generations in a row whose ranks do not join. Another generation would fail, too. */
    private static final int MAX_UNJOINED = 2;

    private final RestartLimit limits;
    private final LongSupplier clock;
    private final Deque<Long> failures = new ArrayDeque<>();
    private int unjoined;

    /** Creates the rules of a job that has not failed yet. The clock returns nanoseconds. */
    RestartRules(RestartLimit limits, LongSupplier clock) {
        this.limits = limits;
        this.clock = clock;
    }

    /**
     * The decision after one failure.
     *
     * @param restarts whether the job starts again
     * @param delay    time until the job starts again; zero if the job ends
     * @param number   number of this restart among the restarts that count towards the limit, from 1; 0 if the job ends
     * @param why      why the job ends; empty if the job starts again, or if the job never restarts
     */
    record RestartDecision(boolean restarts, Duration delay, int number, String why) {
        private static RestartDecision end(String why) {
            return new RestartDecision(false, Duration.ZERO, 0, why);
        }
    }

    /**
     * Decides after the failure of a generation.
     *
     * @param exitCode exit code with which the job would end
     * @param joined   whether all ranks of the generation had joined
     */
    RestartDecision afterFailure(int exitCode, boolean joined) {
        if (!limits.areAny()) {
            return RestartDecision.end("");
        }
        if (exitCode == ExitCode.BAD_INPUT) {
            return RestartDecision.end("exit code 2 means wrong input, which a restart does not change");
        }
        unjoined = joined ? 0 : unjoined + 1;
        if (unjoined == MAX_UNJOINED) {
            return RestartDecision.end("no rank joined in " + MAX_UNJOINED + " generations in a row");
        }
        int counted = counted(clock.getAsLong());
        if (counted > limits.max()) {
            String which = limits.max() == 1 ? "the only restart" : "all " + limits.max() + " restarts";
            return RestartDecision.end(which + limits.within() + (limits.max() == 1 ? " is used" : " are used"));
        }
        return new RestartDecision(true, wait(counted), counted, "");
    }

    /** Adds a failure, and returns how many failures count now. */
    private int counted(long now) {
        limits.window().ifPresent(window -> failures.removeIf(at -> now - at > window.toNanos()));
        failures.add(now);
        return failures.size();
    }

    /** Returns 1 s, 2 s, 4 s and so on, up to a minute, by the number of failures that still count. */
    private static Duration wait(int counted) {
        int doublings = Math.min(counted - 1, MAX_DOUBLINGS);
        return Duration.ofMillis(Math.min(FIRST_WAIT_MILLIS << doublings, LONGEST_WAIT_MILLIS));
    }
}
