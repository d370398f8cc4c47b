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
 * Describes a {@link TrainingMonitor}: how often it reports and where. Without a place for reports it only calls listeners.
 *
 * <p>Interval, metrics and steps before must be the same on all ranks; where reports go may differ. Only rank 0 prints and writes.
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
     * Says how often to report; 50 steps unless it is called.
     *
     * @param steps number of steps between two reports
     * @return this
     * @throws IllegalArgumentException if it is not positive
     */
    public TrainingMonitorBuilder reportEvery(int steps) {
        reportEvery = (int) requireAtLeast(1, steps, "steps between two reports");
        return this;
    }

    /**
     * Names metrics beside the loss.
     *
     * @param names such as {@code accuracy}
     * @return this
     * @throws IllegalArgumentException if a name stands twice
     */
    public TrainingMonitorBuilder metrics(String... names) {
        List<String> list = List.of(Objects.requireNonNull(names, "names"));
        if (new HashSet<>(list).size() < list.size()) {
            throw new IllegalArgumentException("need names of metrics, each once, found " + list);
        }
        metrics = list;
        return this;
    }

    /**
     * Says how many steps the whole training has, for the bar.
     *
     * @param steps number of steps
     * @return this
     * @throws IllegalArgumentException if it is not positive
     */
    public TrainingMonitorBuilder totalSteps(long steps) {
        totalSteps = requireAtLeast(1, steps, "steps of the whole training");
        return this;
    }

    /**
     * Says how many steps a training that is resumed has made before.
     *
     * @param steps number of steps; 0 unless it is called
     * @return this
     * @throws IllegalArgumentException if it is negative
     */
    public TrainingMonitorBuilder stepsBefore(long steps) {
        stepsBefore = requireAtLeast(0, steps, "steps before");
        return this;
    }

    private static long requireAtLeast(long least, long steps, String what) {
        if (steps < least) {
            throw new IllegalArgumentException("need at least " + least + " " + what + ", found " + steps);
        }
        return steps;
    }

    /**
     * Prints reports to a terminal, as one line that redraws itself.
     *
     * @param terminal such as {@code System.out}, where that is a terminal
     * @return this
     */
    public TrainingMonitorBuilder bar(PrintStream terminal) {
        out = Objects.requireNonNull(terminal, "terminal");
        bar = true;
        return this;
    }

    /**
     * Prints each report as a line, to a pipe or a file.
     *
     * @param pipe such as {@code System.out}
     * @return this
     */
    public TrainingMonitorBuilder lines(PrintStream pipe) {
        out = Objects.requireNonNull(pipe, "pipe");
        bar = false;
        return this;
    }

    /**
     * Appends each report to a file, as a line of JSON. A line that cannot be written later, as on a full disk, is left out
     * after one WARNING, and the training goes on.
     *
     * @param lines file, made if it is not there
     * @return this
     */
    public TrainingMonitorBuilder json(Path lines) {
        file = Objects.requireNonNull(lines, "lines");
        return this;
    }

    /**
     * Adds a listener, on this rank.
     *
     * @param listener gets each report on the thread that makes the step
     * @return this
     */
    public TrainingMonitorBuilder listener(Consumer<TrainingReport> listener) {
        listeners.add(Objects.requireNonNull(listener, "listener"));
        return this;
    }

    /**
     * Takes another clock than {@link System#nanoTime}.
     *
     * @param nanos gives the time in nanoseconds, from any origin
     * @return this
     */
    public TrainingMonitorBuilder clock(LongSupplier nanos) {
        clock = Objects.requireNonNull(nanos, "nanos");
        return this;
    }

    /**
     * Makes the monitor, whose time begins now. This is a collective of the group.
     *
     * @return monitor
     * @throws IllegalArgumentException on all ranks if interval, metrics or steps before differ; the group goes on
     * @throws IllegalStateException    if the group is closed
     * @throws ferro.FerroException     if the group fails or has failed
     * @throws java.io.UncheckedIOException if rank 0 cannot make or open its file
     */
    public TrainingMonitor build() {
        RankTexts.requireEqual(
                group,
                "settings of training monitors",
                "every " + reportEvery + " from " + stepsBefore + " of " + metrics);
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
