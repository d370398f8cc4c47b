package ferro.training.monitor;

import ferro.group.ProcessGroup;
import ferro.training.agreement.RankTexts;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * A builder of a {@link TrainingMonitor}. The builder sets how often the monitor reports, and where the reports go.
 * Without a terminal, pipe or file, the monitor only calls listeners.
 *
 * <p>The interval, the metrics and the number of earlier steps must be the same on all ranks. The destinations of
 * reports may differ. Only rank 0 prints reports and writes the file.
 */
public final class TrainingMonitorBuilder {
    private static final int EVERY = 50;

    private final ProcessGroup group;
    private final List<Consumer<TrainingReport>> listeners = new ArrayList<>();
    private List<String> metrics = List.of();
    private int reportEvery = EVERY;
    private long totalSteps;
    private long stepsBefore;
    private LongSupplier clock = System::nanoTime;
    private PrintStream out;
    private boolean bar;
    private Path file;

    TrainingMonitorBuilder(ProcessGroup group) {
        this.group = group;
    }

    /**
     * Sets how often the monitor reports, which is every 50 steps by default.
     *
     * @param steps number of steps between two reports
     * @return this
     * @throws IllegalArgumentException if the number is not positive
     */
    public TrainingMonitorBuilder reportEvery(int steps) {
        reportEvery = (int) requireAtLeast(1, steps, "steps between two reports");
        return this;
    }

    /**
     * Sets the names of metrics that are reported in addition to the loss.
     *
     * @param names names, such as {@code accuracy}
     * @return this
     * @throws IllegalArgumentException if a name occurs twice
     */
    public TrainingMonitorBuilder metrics(String... names) {
        List<String> list = List.of(Objects.requireNonNull(names, "names"));
        if (new HashSet<>(list).size() < list.size()) {
            throw new IllegalArgumentException("need no metric name twice, found " + list);
        }
        metrics = list;
        return this;
    }

    /**
     * Sets the number of steps of the whole training. Reports then show the progress.
     *
     * @param steps number of steps
     * @return this
     * @throws IllegalArgumentException if the number is not positive
     */
    public TrainingMonitorBuilder totalSteps(long steps) {
        totalSteps = requireAtLeast(1, steps, "steps of the whole training");
        return this;
    }

    /**
     * Sets the number of steps that a resumed training made before the training was resumed.
     *
     * @param steps number of steps; 0 by default
     * @return this
     * @throws IllegalArgumentException if the number is negative
     */
    public TrainingMonitorBuilder stepsBefore(long steps) {
        stepsBefore = requireAtLeast(0, steps, "steps before this run");
        return this;
    }

    private static long requireAtLeast(long least, long steps, String what) {
        if (steps < least) {
            throw new IllegalArgumentException("need at least " + least + " " + what + ", found " + steps);
        }
        return steps;
    }

    /**
     * Prints reports to a terminal, as one line that is redrawn.
     *
     * @param terminal stream to a terminal, such as {@code System.out}
     * @return this
     */
    public TrainingMonitorBuilder bar(PrintStream terminal) {
        out = Objects.requireNonNull(terminal, "terminal");
        bar = true;
        return this;
    }

    /**
     * Prints each report as one line, to a pipe or a file.
     *
     * @param pipe stream, such as {@code System.out}
     * @return this
     */
    public TrainingMonitorBuilder lines(PrintStream pipe) {
        out = Objects.requireNonNull(pipe, "pipe");
        bar = false;
        return this;
    }

    /**
     * Appends each report to a file, as one line of JSON. If a line cannot be written during the training, for example
     * because the disk is full, the monitor leaves the line out. The monitor logs one WARNING, and the training
     * continues.
     *
     * @param lines file; created if it does not exist
     * @return this
     */
    public TrainingMonitorBuilder json(Path lines) {
        file = Objects.requireNonNull(lines, "lines");
        return this;
    }

    /**
     * Adds a listener on this rank.
     *
     * @param listener listener that receives each report, on the thread that calls {@code step}
     * @return this
     */
    public TrainingMonitorBuilder listener(Consumer<TrainingReport> listener) {
        listeners.add(Objects.requireNonNull(listener, "listener"));
        return this;
    }

    /**
     * Sets another clock than {@link System#nanoTime}.
     *
     * @param nanos clock that returns the time in nanoseconds, from any origin
     * @return this
     */
    public TrainingMonitorBuilder clock(LongSupplier nanos) {
        clock = Objects.requireNonNull(nanos, "nanos");
        return this;
    }

    /**
     * Creates the monitor and starts its time. This call is a collective of the group.
     *
     * @return monitor
     * @throws IllegalArgumentException if the interval, the metrics or the number of earlier steps differs between
     *     ranks; all ranks throw this exception, and the group stays usable
     * @throws IllegalStateException if the group is closed
     * @throws ferro.FerroException if the group fails or has failed
     * @throws java.io.UncheckedIOException if rank 0 cannot create or open its file
     */
    public TrainingMonitor build() {
        RankTexts.requireEqual(
                group,
                "settings of training monitors",
                "every " + reportEvery + " steps after " + stepsBefore + " with metrics " + metrics);
        List<Consumer<TrainingReport>> all = new ArrayList<>(listeners);
        if (group.rank() == 0 && out != null) {
            all.add(new ReportPrinter(out, bar, totalSteps));
        }
        if (group.rank() == 0 && file != null) {
            all.add(new ReportFile(file));
        }
        return new TrainingMonitor(this, group, all);
    }

    int reportEvery() {
        return reportEvery;
    }

    List<String> metrics() {
        return metrics;
    }

    long stepsBefore() {
        return stepsBefore;
    }

    LongSupplier clock() {
        return clock;
    }
}
