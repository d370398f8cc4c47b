package ferro.launcher;

import ferro.launcher.input.Restarts;
import ferro.launcher.restarts.PastGenerations;
import ferro.launcher.restarts.PastGenerations.PastGeneration;
import ferro.launcher.restarts.RestartRules;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/** The generations of a job. On node 0 it decides after each what follows; other nodes keep what node 0 has decided. */
final class Generations {
    private final Restarts limits;
    private final LongSupplier clock;
    private final RestartRules rules;
    private final PastGenerations past = new PastGenerations();
    private List<String> lines = List.of();
    private int number;

    /**
     * Creates the state of a job that has not started yet.
     *
     * @param limits restarts that the job may have
     * @param clock  returns nanoseconds
     */
    Generations(Restarts limits, LongSupplier clock) {
        this.limits = limits;
        this.clock = clock;
        this.rules = new RestartRules(limits, clock);
    }

    /** Returns the number of the generation that runs or starts next, from 0. */
    int number() {
        return number;
    }

    /** Takes the number for which the launchers have met. */
    void met(int generation) {
        number = generation;
    }

    /**
     * Decides what follows the generation that has ended.
     *
     * @param conclusion how it ended
     * @param progress   how far its ranks had come
     * @param seconds    that it lasted
     */
    GenerationEnd ended(Conclusion conclusion, GenerationProgress progress, double seconds) {
        past.add(new PastGeneration(number, seconds, conclusion.cause(), progress.checkpoint()));
        lines = past.lines();
        if (!conclusion.failed()) {
            return last(conclusion);
        }
        RestartRules.Decision decision = rules.afterFailure(conclusion.code(), progress.joined());
        if (!decision.restarts()) {
            String why = "the job does not start again: " + decision.why();
            return last(decision.why().isEmpty() ? conclusion : conclusion.after(List.of(why)));
        }
        String line = named(number + 1, decision) + " starts in " + Restarts.text(decision.delay()) + ": "
                + conclusion.cause();
        // ranks need time to end, and their recordings are read: this time is a part of the wait
        Duration rest = decision.delay().minusNanos(clock.getAsLong() - progress.endNanos());
        return new GenerationEnd(conclusion, true, Math.max(0, rest.toMillis()), line, lines);
    }

    /** Returns the name of the next generation, with the most that the job may have. */
    private String named(int next, RestartRules.Decision decision) {
        return limits.window().isEmpty()
                ? "generation " + next + " of at most " + limits.max()
                : "generation " + next + " (restart " + decision.number() + " of at most " + limits.max()
                        + limits.within() + ")";
    }

    /** Returns the end of a job whose launcher of node 0 is lost: without it, nobody starts the ranks again. */
    GenerationEnd endedAlone(Conclusion conclusion, GenerationProgress progress, double seconds) {
        List<String> all = new ArrayList<>(lines);
        all.add(new PastGeneration(number, seconds, conclusion.cause(), progress.checkpoint()).line());
        lines = all;
        return last(conclusion);
    }

    /** Returns the end of a job that starts no other generation, whatever its restarts. */
    private GenerationEnd last(Conclusion conclusion) {
        return GenerationEnd.last(conclusion, lines.size() < 2 ? List.of() : lines);
    }

    /** Keeps what node 0 has decided. */
    void heard(GenerationEnd end) {
        lines = end.past();
    }

    /** Returns one line for each generation that has ended. */
    List<String> lines() {
        return lines;
    }
}
