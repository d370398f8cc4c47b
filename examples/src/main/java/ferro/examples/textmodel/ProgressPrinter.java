package ferro.examples.textmodel;

import java.io.PrintStream;
import java.util.Locale;
import java.util.function.Consumer;

/** Shows how training goes: a line that redraws itself, or a new line every few seconds. */
final class ProgressPrinter implements Consumer<TrainingStep> {
    private static final long LINE_EVERY_NANOS = 3_000_000_000L;
    private static final long REDRAW_EVERY_NANOS = 100_000_000L;
    private static final int BAR_WIDTH = 30;

    private final PrintStream out;
    private final Options options;
    private long shownNanos;
    private long characters;
    private long communicationNanos;
    private String state = "";

    ProgressPrinter(PrintStream out, Options options) {
        this.out = out;
        this.options = options;
    }

    @Override
    public void accept(TrainingStep step) {
        characters += step.characters();
        communicationNanos += step.communicationNanos();
        long elapsed = step.endNanos() - shownNanos;
        boolean first = step.number() == 0;
        if (first || elapsed >= (options.bar() ? REDRAW_EVERY_NANOS : LINE_EVERY_NANOS)) {
            show(step, elapsed);
        }
    }

    private void show(TrainingStep step, long elapsed) {
        String figures = String.format(
                Locale.ROOT,
                "step %,d  loss %.3f  %,.0f characters/s  %2.0f %% communicating",
                step.number() + 1,
                step.loss(),
                characters * 1e9 / elapsed,
                100.0 * communicationNanos / elapsed);
        if (options.bar()) {
            // Blanks wipe what a longer state before this one has left; each state ends with the return, as the
            // launcher
            // puts the rank in front of what comes next.
            state = bar(step) + " " + figures + "   ";
            out.print(state + "\r");
        } else {
            out.println(String.format(Locale.ROOT, "%5.1f s  ", step.endNanos() / 1e9) + figures);
        }
        out.flush();
        shownNanos = step.endNanos();
        characters = 0;
        communicationNanos = 0;
    }

    private String bar(TrainingStep step) {
        double bySteps = (step.number() + 1.0) / options.steps();
        double byTime = step.endNanos() / 1e9 / options.seconds();
        double done = Math.min(1, Math.max(bySteps, byTime));
        int filled = (int) (done * BAR_WIDTH);
        return String.format(
                Locale.ROOT, "[%s%s] %3.0f %%", "#".repeat(filled), "-".repeat(BAR_WIDTH - filled), 100 * done);
    }

    /** Leaves the last state of the line that redraws itself. */
    void finish() {
        if (options.bar()) {
            out.println(state);
        }
    }
}
