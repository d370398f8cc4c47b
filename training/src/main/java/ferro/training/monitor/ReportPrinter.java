package ferro.training.monitor;

import java.io.PrintStream;
import java.util.Locale;
import java.util.function.Consumer;

/**
 * A listener that prints reports. On a terminal the listener redraws one line; elsewhere it prints one line per report.
 */
final class ReportPrinter implements Consumer<TrainingReport> {
    /**
     * Width of the bar. With a bar of this width and the rank that the launcher prints first, a usual line fits a
     * terminal of 80 columns.
     */
    private static final int BAR_WIDTH = 6;

    private final PrintStream out;
    private final boolean bar;
    private final long totalSteps;
    private String state = "";

    /** Creates a printer for a stream; {@code totalSteps} is 0 if the total is unknown. */
    ReportPrinter(PrintStream out, boolean bar, long totalSteps) {
        this.out = out;
        this.bar = bar;
        this.totalSteps = totalSteps;
    }

    @Override
    public void accept(TrainingReport report) {
        if (!bar) {
            out.println(line(report));
            return;
        }
        String next = progress(report.step())
                + String.format(
                        Locale.ROOT,
                        " loss %.3f (%.3f) %,.0f/s waits %.0f %% hidden %.0f %% slowest %d",
                        report.loss(),
                        report.smoothedLoss(),
                        report.samplesPerSecond(),
                        100 * report.time().waiting(),
                        100 * report.time().hidden(),
                        report.slowest().rank());
        // spaces overwrite the end of a longer line; the carriage return is last, because the launcher prints the rank
        // first
        String spaces = " ".repeat(Math.max(0, state.stripTrailing().length() - next.length()));
        state = next + spaces;
        out.print(state + "\r");
        out.flush();
    }

    private String progress(long step) {
        if (totalSteps == 0) {
            return String.format(Locale.ROOT, "step %,d", step);
        }
        double done = Math.min(1, (double) step / totalSteps);
        int filled = (int) (done * BAR_WIDTH);
        return String.format(
                Locale.ROOT, "[%s%s] %3.0f %%", "#".repeat(filled), "-".repeat(BAR_WIDTH - filled), 100 * done);
    }

    private String line(TrainingReport report) {
        StringBuilder line = new StringBuilder();
        line.append(String.format(Locale.ROOT, "step %,d", report.step()));
        if (totalSteps > 0) {
            line.append(String.format(Locale.ROOT, " of %,d", totalSteps));
        }
        line.append(String.format(
                Locale.ROOT,
                "  loss %.4f (smoothed %.4f)  %,.0f samples/s  computing %.0f %%, communicating %.0f %% hidden, %.0f %% not"
                        + " hidden  slowest rank %d (%+.0f %%)",
                report.loss(),
                report.smoothedLoss(),
                report.samplesPerSecond(),
                100 * report.time().computing(),
                100 * report.time().hidden(),
                100 * report.time().waiting(),
                report.slowest().rank(),
                100 * report.slowest().more()));
        report.metrics().forEach((name, mean) -> line.append(String.format(Locale.ROOT, "  %s %.4f", name, mean)));
        return line.toString();
    }

    /** Ends the line that is redrawn, so that its last state stays visible. */
    void finish() {
        if (bar && !state.isEmpty()) {
            out.println(state.stripTrailing());
            state = "";
        }
    }
}
