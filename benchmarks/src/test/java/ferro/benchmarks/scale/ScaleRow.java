package ferro.benchmarks.scale;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** One row of the table of scale: what is measured in a JVM of its own. */
enum ScaleRow {
    THREADS("threads", new Limits(300, 6144), ThreadsRow::phases, 1000),
    SIMULATION("simulation", new Limits(300, 6144), SeededRow::phases, 10_000),
    FAILURE("failure", new Limits(120, 4096), SeededRow::failure, 64, 256, 1024),
    LEAVING("leaving", new Limits(120, 4096), SeededRow::leaving, 64, 256, 1024),
    STRAGGLER("straggler", new Limits(120, 4096), ThreadsRow::straggler, 128),
    PAUSE("pause", new Limits(120, 4096), ThreadsRow::pause, 128),
    EXIT("exit", new Limits(120, 1024), ExitRow::measure, 1000),
    PLANS("plans", new Limits(420, 12_288), PlansRow::measure, 10_000),
    /** The JVM whose exit {@link #EXIT} measures. */
    OPEN_GROUP("open-group", new Limits(120, 4096), ThreadsRow::openGroup);

    private final String label;
    private final Limits limits;
    private final Measurement measurement;
    private final int[] ranks;

    ScaleRow(String label, Limits limits, Measurement measurement, int... ranks) {
        this.label = label;
        this.limits = limits;
        this.measurement = measurement;
        this.ranks = ranks;
    }

    /** The bounds of a row: the time after which its JVM is killed, and its largest heap. */
    record Limits(int seconds, int heapMebibytes) {}

    @FunctionalInterface
    interface Measurement {
        void run(int ranks) throws Exception;
    }

    static List<ScaleRow> all() {
        return Arrays.stream(values()).filter(row -> row.ranks.length > 0).toList();
    }

    static ScaleRow of(String label) {
        return Arrays.stream(values())
                .filter(row -> row.label.equals(label))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no row \"" + label + "\": use one of " + all()));
    }

    List<Integer> ranks() {
        return Arrays.stream(ranks).boxed().toList();
    }

    Limits limits() {
        return limits;
    }

    List<String> command(int ofRanks) {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        command.addAll(List.of("-Xmx" + limits.heapMebibytes + "m", "-XX:+ExitOnOutOfMemoryError"));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), ScaleRow.class.getName()));
        command.addAll(List.of(label, "" + ofRanks));
        return command;
    }

    /** Measures the row and the ranks that the words name in this JVM, and ends it without the exit of its groups. */
    public static void main(String[] words) {
        try {
            of(words[0]).measurement.run(Integer.parseInt(words[1]));
        } catch (Exception | AssertionError failed) {
            failed.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
        Runtime.getRuntime().halt(0);
    }

    @Override
    public String toString() {
        return label;
    }
}
