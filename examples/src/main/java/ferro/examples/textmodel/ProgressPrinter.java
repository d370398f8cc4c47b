package ferro.examples.textmodel;

import java.io.PrintStream;
import java.util.Locale;
import java.util.function.Consumer;

/** A printer of the training progress. The printer redraws one line, or prints a new line every few seconds. */
final class ProgressPrinter implements Consumer<TrainingStep> {
    private static final long LINE_EVERY_NANOS = 3_000_000_000L;

    /**
     * Minimum time over which the speed is averaged. Over a shorter time, the printed speed would jump from step to
     * step.
     */
    private static final long MEASURE_EVERY_NANOS = 1_000_000_000L;

    private static final long REDRAW_EVERY_NANOS = 100_000_000L;

    /**
     * Number of characters of the bar. The full line fits a terminal of 80 columns, with the rank that the launcher
     * prints in front.
     */
    private static final int BAR_WIDTH = 12;

    private final PrintStream out;
    private final Options options;
    private long measuredNanos;
    private long drawnNanos;
    private long characters;
    private long communicationNanos;
    private String speed = "";
    private String state = "";

    ProgressPrinter(PrintStream out, Options options) {
        this.out = out;
        this.options = options;
    }

    @Override
    public void accept(TrainingStep step) {
        characters += step.characters();
        communicationNanos += step.communicationNanos();
        boolean first = step.number() == 0;
        boolean measured =
                first || step.endNanos() - measuredNanos >= (options.bar() ? MEASURE_EVERY_NANOS : LINE_EVERY_NANOS);
        if (measured) {
            measure(step);
        }
        if (measured && !options.bar()) {
            show(
                    String.format(Locale.ROOT, "%5.1f s  step %,d  ", step.endNanos() / 1e9, step.number() + 1),
                    step,
                    "\n");
        }
        if (options.bar() && (first || step.endNanos() - drawnNanos >= REDRAW_EVERY_NANOS)) {
            // Each state ends with a carriage return, because the launcher puts the rank in front of the next output.
            show(bar(step), step, "\r");
            drawnNanos = step.endNanos();
        }
    }

    /** Measures the speed. The widths are fixed, so that no part of an earlier, longer line remains. */
    private void measure(TrainingStep step) {
        long elapsed = step.endNanos() - measuredNanos;
        speed = String.format(
                Locale.ROOT,
                "%,8.0f characters/s %3.0f %% communicating",
                characters * 1e9 / elapsed,
                100.0 * communicationNanos / elapsed);
        measuredNanos = step.endNanos();
        characters = 0;
        communicationNanos = 0;
    }

    private void show(String progress, TrainingStep step, String end) {
        state = progress + String.format(Locale.ROOT, "loss %.3f ", step.loss()) + speed;
        out.print(state + end);
        out.flush();
    }

    private String bar(TrainingStep step) {
        double bySteps = (step.number() + 1.0) / options.steps();
        double byTime = step.endNanos() / 1e9 / options.seconds();
        double done = Math.min(1, Math.max(bySteps, byTime));
        int filled = (int) (done * BAR_WIDTH);
        return String.format(
                Locale.ROOT, "[%s%s] %3.0f %%  ", "#".repeat(filled), "-".repeat(BAR_WIDTH - filled), 100 * done);
    }

    /** Prints the last state of the redrawn line again, so that this state remains visible. */
    void finish() {
        if (options.bar()) {
            out.println(state);
        }
    }
}
