package ferro.benchmarks.compare;

import ferro.benchmarks.compare.Measurement.SizedCall;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The program of benchmarks/compare.sh. The program starts all contestants, and requests a measurement of every size
 * from each contestant once per round. Each round begins with another contestant. The program probes the machine before
 * and after each measurement, and writes the report.
 */
public final class Comparison {
    private static final int BAD_INPUT = 2;
    private static final int WRONG = 1;
    private static final String SHARED = "-shared";

    /**
     * Time for which a JVM runs all of its items before any contestant is measured. Without this time, busy compilers
     * would take a core from the measured processes, and the first rounds of a size would run interpreted code.
     */
    private static final Duration COMPILING = Duration.ofMillis(3000);

    private static final Duration COMPILING_EACH = Duration.ofMillis(300);
    /** Warm-up of every contestant before the rounds of a size, so that the buffers of the contestant are allocated. */
    private static final Duration WARM_UP = Duration.ofMillis(60);

    private final CompareOptions options;
    private final ResultsFile raw;
    private final String run = LocalDateTime.now().format(DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss"));
    private final Map<String, LibraryProcesses> started = new LinkedHashMap<>();
    private long wrong;

    private Comparison(CompareOptions options) {
        this.options = options;
        raw = new ResultsFile(options.out().resolve("raw.csv"));
    }

    /**
     * Measures if the options name a starter, and then writes a report on all measurements in raw.csv.
     *
     * @param words options as benchmarks/compare.sh passes them
     * @throws Exception if a file cannot be written or a contestant cannot be started
     */
    public static void main(String[] words) throws Exception {
        CompareOptions options;
        try {
            options = CompareOptions.parse(List.of(words));
        } catch (IllegalArgumentException misuse) {
            System.err.println("compare: " + misuse.getMessage());
            System.exit(BAD_INPUT);
            return;
        }
        Files.createDirectories(options.out());
        long wrong = run(options);
        if (wrong > 0) {
            System.err.println("compare: " + wrong + " elements of ferro differ from the result of a plain loop");
        }
        // exits explicitly because threads that read pipes are still alive
        System.exit(wrong > 0 ? WRONG : 0);
    }

    private static long run(CompareOptions options) throws IOException, InterruptedException {
        Comparison comparison = new Comparison(options);
        if (options.starter() != null) {
            MachineDescription.write(options.out());
            comparison.measure();
        }
        new ReportWriter(comparison.raw.read(), options.out()).write();
        return comparison.wrong;
    }

    private void measure() throws IOException, InterruptedException {
        try (MachineProbe probe = MachineProbe.open(options.time())) {
            for (int ranks : options.ranks()) {
                try {
                    start(ranks);
                    compile(options.items(ranks));
                    for (SizedCall item : options.items(ranks)) {
                        measure(item, probe);
                    }
                } finally {
                    stop();
                }
            }
        }
    }

    private void start(int ranks) throws IOException, InterruptedException {
        for (String name : options.contestants()) {
            String processes = name.replace(SHARED, "");
            if (!started.containsKey(processes)) {
                started.put(processes, LibraryProcesses.start(processes, ranks, options.starter()));
            }
        }
        for (LibraryProcesses contestant : started.values()) {
            contestant.awaitReady();
        }
    }

    private void compile(List<SizedCall> items) throws IOException, InterruptedException {
        Duration each = COMPILING.dividedBy(Math.max(1, items.size()));
        for (String name : options.contestants()) {
            for (SizedCall item : name.startsWith("ferro") || name.startsWith("mpj") ? items : List.<SizedCall>of()) {
                ask(name, item, each.compareTo(COMPILING_EACH) < 0 ? COMPILING_EACH : each, true);
            }
        }
    }

    private void stop() throws IOException {
        for (LibraryProcesses contestant : started.values()) {
            contestant.close();
        }
        started.clear();
    }

    private void measure(SizedCall item, MachineProbe probe) throws IOException, InterruptedException {
        List<String> able = new ArrayList<>();
        for (String name : options.contestants()) {
            if (warmUp(name, item)) {
                able.add(name);
            }
        }
        for (int round = 0; round < options.rounds() && !able.isEmpty(); round++) {
            MachineProbe.MachineState before = probe.read();
            for (String name : able) {
                String[] answer = ask(name, item, options.time().dividedBy(5), false);
                MachineProbe.MachineState after = probe.read();
                if (answer != null) {
                    raw.append(new Measurement(run, item, name, round, times(answer), 0, before, after));
                }
                before = after;
            }
            Collections.rotate(able, 1);
        }
        System.err.printf(
                "compare: %s, %d ranks, %d bytes: %d rounds of %d contestants%n",
                item.collective(), item.ranks(), item.bytes(), options.rounds(), able.size());
    }

    /** Checks the result and warms up. Returns whether the contestant can do the item with the right result. */
    private boolean warmUp(String name, SizedCall item) throws IOException, InterruptedException {
        String[] answer = ask(name, item, WARM_UP, true);
        if (answer == null) {
            return false;
        }
        long found = Long.parseLong(answer[3]);
        if (found > 0) {
            System.err.printf("compare: %s is left out: %d wrong elements in %s%n", name, found, item);
        }
        wrong += TransportMedium.ours(name) ? found : 0;
        return found == 0;
    }

    private String[] ask(String name, SizedCall item, Duration warmUp, boolean check)
            throws IOException, InterruptedException {
        LibraryProcesses contestant = started.get(name.replace(SHARED, ""));
        Duration time = check ? options.time().dividedBy(5) : options.time();
        String answer = contestant.ask(String.join(
                " ",
                item.collective(),
                "" + item.bytes(),
                name.contains(SHARED) ? "shared" : "host",
                "" + warmUp.toNanos() / 1000,
                "" + time.toNanos() / 1000,
                check ? "1" : "0"));
        if (answer == null || answer.startsWith("cannot")) {
            if (answer != null) {
                System.err.println("compare: " + name + " " + answer);
            }
            return null;
        }
        return answer.split(" ");
    }

    private static Measurement.MeasuredTimes times(String[] answer) {
        return new Measurement.MeasuredTimes(
                Double.parseDouble(answer[0]), Double.parseDouble(answer[1]), Double.parseDouble(answer[2]));
    }
}
