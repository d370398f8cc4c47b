package ferro.launcher;

import ferro.launcher.RestartRules.RestartDecision;
import ferro.launcher.input.RestartLimit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.LongSupplier;

/** The generations of a job. Node 0 decides whether another generation follows, and other nodes store the decision. */
final class Generations {
    /** Largest number of printed lines, because a job may fail again and again for weeks. */
    private static final int MAX_LINES = 20;

    private final RestartLimit limits;
    private final LongSupplier clock;
    private final RestartRules rules;
    /** One line for each generation that has ended. The list is complete only on node 0. */
    private final List<String> past = new ArrayList<>();

    private List<String> lines = List.of();
    private int number;

    /**
     * Creates the state of a job that has not started yet.
     *
     * @param limits limits for restarts of the job
     * @param clock  returns nanoseconds
     */
    Generations(RestartLimit limits, LongSupplier clock) {
        this.limits = limits;
        this.clock = clock;
        this.rules = new RestartRules(limits, clock);
    }

    /** Returns the number of the generation that runs or starts next, from 0. */
    int number() {
        return number;
    }

    /** Sets the number of the generation for which the launchers have waited. */
    void met(int generation) {
        number = generation;
    }

    /**
     * Decides whether another generation follows the generation that has ended.
     *
     * @param conclusion conclusion about the generation
     * @param joined     whether all ranks had joined
     * @param checkpoint last checkpoint that the ranks have published, such as {@code step 40}; empty if unknown
     * @param endNanos   time at which this launcher received the first failure, or at which all ranks had ended
     * @param seconds    duration of the generation
     */
    GenerationOutcome ended(
            GenerationOutcome conclusion, boolean joined, String checkpoint, long endNanos, double seconds) {
        past.add(line(conclusion, checkpoint, seconds));
        lines = shown(past);
        if (!conclusion.failed()) {
            return last(conclusion);
        }
        RestartDecision decision = rules.afterFailure(conclusion.code(), joined);
        if (!decision.restarts()) {
            String why = "the job does not start again: " + decision.why();
            return last(decision.why().isEmpty() ? conclusion : conclusion.after(List.of(why)));
        }
        String line = named(number + 1, decision) + " starts in " + RestartLimit.text(decision.delay()) + ": "
                + conclusion.cause();
        // the time in which the ranks ended and their recordings were read is a part of the wait
        Duration rest = decision.delay().minusNanos(clock.getAsLong() - endNanos);
        return conclusion.followed(line, Math.max(0, rest.toMillis()), lines);
    }

    /** Returns the name of the next generation, with the limit of the job. */
    private String named(int next, RestartDecision decision) {
        return limits.window().isEmpty()
                ? "generation " + next + " of at most " + limits.max()
                : "generation " + next + " (restart " + decision.number() + " of at most " + limits.max()
                        + limits.within() + ")";
    }

    /** Returns the end of a job whose launcher of node 0 is lost, because no other launcher starts the ranks again. */
    GenerationOutcome endedAlone(GenerationOutcome conclusion, String checkpoint, double seconds) {
        List<String> all = new ArrayList<>(lines);
        all.add(line(conclusion, checkpoint, seconds));
        lines = all;
        return last(conclusion);
    }

    private String line(GenerationOutcome conclusion, String checkpoint, double seconds) {
        return String.format(Locale.ROOT, "generation %d: %.1f s, %s", number, seconds, conclusion.cause())
                + (checkpoint.isEmpty() ? "" : ", last checkpoint " + checkpoint);
    }

    /** Returns the lines of generations, oldest first, in the form in which the end of a job prints them. */
    private static List<String> shown(List<String> past) {
        List<String> lines = new ArrayList<>();
        int hidden = Math.max(0, past.size() - MAX_LINES);
        if (hidden > 0) {
            lines.add(hidden + (hidden == 1 ? " earlier generation is" : " earlier generations are") + " not shown");
        }
        lines.addAll(past.subList(hidden, past.size()));
        return lines;
    }

    /** Returns the end of a job that starts no other generation, even if it has restarts left. */
    private GenerationOutcome last(GenerationOutcome conclusion) {
        return conclusion.followed(null, 0, lines.size() < 2 ? List.of() : lines);
    }

    /** Stores the decision of node 0. */
    void heard(GenerationOutcome end) {
        lines = end.past();
    }

    /** Returns one line for each generation that has ended. */
    List<String> lines() {
        return lines;
    }
}
