import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Prints how long tests take: a row per module and the {@value #MAX_CLASSES} longest classes. Needs no library, and Linux to count JVMs.
 *
 * <ul>
 * <li>{@code java config/figures/Times.java}: seconds of each class, from the reports of earlier builds of this checkout.
 * <li>{@code java config/figures/Times.java mvn -B verify}: runs the command, and prints its tests, with the processor time that
 *     their own JVM and the processes that they started took, and how many JVMs they started.
 * </ul>
 *
 * <p>It looks at the processes ten times a second: a process that ends in between is not seen, and the last tenth of a second of
 * one is not counted. What a class started counts for the class that began last, in the same JVM of tests. The exit code is that
 * of the command.
 */
final class Times {
    private static final int MAX_CLASSES = 60;
    private static final Pattern CASE = Pattern.compile("<testsuite [^>]*?\\bname=\"([^\"]+)\" time=\"([0-9.,]+)\"");
    private static final Pattern COMMAND = Pattern.compile("name=\"sun.java.command\" value=\"[^\"]*?(surefire_\\w+-\\w+)");
    private static final Pattern FORK = Pattern.compile("(surefire_\\w+-\\w+)");

    /** What one class of tests took, or all of a module. */
    private static final class Row {
        private final String name;
        private final String module;
        private final long begin;
        private final double seconds;
        private double own;
        private double started;
        private int jvms;
        private int classes;

        Row(String name, String module, long begin, double seconds) {
            this.name = name;
            this.module = module;
            this.begin = begin;
            this.seconds = seconds;
        }

        @Override
        public String toString() {
            return String.format(Locale.ROOT, "| %s | %d | %.1f | %.1f | %.1f | %d |", name, classes, seconds, own, started, jvms);
        }
    }

    /** A process as it was seen last. Processor time in hundredths of a second, as Linux gives it. */
    private static final class Seen {
        private final long since = System.currentTimeMillis();
        private final long parent;
        private final boolean java;
        private final String fork;
        private final List<long[]> samples = new ArrayList<>();
        private long ticks;

        Seen(long pid, String name, long parent) {
            this.parent = parent;
            this.java = name.equals("java");
            this.fork = java ? forkOf(pid) : null;
        }

        private static String forkOf(long pid) {
            try {
                Matcher fork = FORK.matcher(Files.readString(Path.of("/proc/" + pid + "/cmdline")));
                return fork.find() ? fork.group(1) : null;
            } catch (IOException gone) {
                return null;
            }
        }
    }

    private final Map<Long, Seen> processes = new HashMap<>();
    /** By number, which another process may get later. */
    private final Map<Long, List<Seen>> ended = new HashMap<>();

    private Times() {}

    public static void main(String[] command) throws IOException, InterruptedException {
        Times times = new Times();
        long begin = System.currentTimeMillis();
        int code = command.length == 0 ? 0 : times.watch(new ProcessBuilder(command).inheritIO().start());
        Map<String, List<Row>> byFork = reports(command.length == 0 ? 0 : begin);
        times.attribute(byFork);
        print(byFork.values().stream().flatMap(List::stream).toList());
        System.exit(code);
    }

    private int watch(Process command) throws IOException, InterruptedException {
        while (command.isAlive()) {
            poll();
            Thread.sleep(100);
        }
        processes.forEach(this::end);
        return command.exitValue();
    }

    private void poll() throws IOException {
        Map<Long, Seen> before = new HashMap<>(processes);
        try (Stream<Path> all = Files.list(Path.of("/proc"))) {
            for (Path process : (Iterable<Path>) all::iterator) {
                String pid = process.getFileName().toString();
                if (Character.isDigit(pid.charAt(0))) {
                    poll(Long.parseLong(pid), process.resolve("stat"));
                    before.remove(Long.parseLong(pid));
                }
            }
        }
        before.forEach((pid, process) -> {
            processes.remove(pid);
            end(pid, process);
        });
    }

    private void end(long pid, Seen process) {
        ended.computeIfAbsent(pid, number -> new ArrayList<>()).add(process);
    }

    /** Fields of stat by proc(5): name in brackets, state, parent, then user and system time as the 14th and 15th of all. */
    private void poll(long pid, Path stat) {
        try {
            String text = Files.readString(stat);
            String[] fields = text.substring(text.lastIndexOf(')') + 2).split(" ");
            String name = text.substring(text.indexOf('(') + 1, text.lastIndexOf(')'));
            Seen known = processes.get(pid);
            // a process is another program after exec
            if (known == null || !known.java && name.equals("java")) {
                known = new Seen(pid, name, Long.parseLong(fields[1]));
                processes.put(pid, known);
            }
            known.ticks = Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
            if (known.fork != null) {
                known.samples.add(new long[] {System.currentTimeMillis(), known.ticks});
            }
        } catch (IOException gone) {
            // it ended since the folder was read
        }
    }

    private static Map<String, List<Row>> reports(long since) throws IOException {
        Map<String, List<Row>> byFork = new TreeMap<>();
        try (Stream<Path> files = Files.walk(Path.of(""))) {
            List<Path> reports = files.filter(file -> file.getFileName().toString().matches("TEST-.*\\.xml")).toList();
            for (Path report : reports) {
                String text = Files.readString(report);
                long end = Files.getLastModifiedTime(report).toMillis();
                Matcher test = CASE.matcher(text);
                if (end >= since && test.find()) {
                    double seconds = Double.parseDouble(test.group(2).replace(",", ""));
                    Matcher fork = COMMAND.matcher(text);
                    String module = report.toString().replaceFirst("/(target|\\.ferro)/.*", "");
                    byFork.computeIfAbsent(fork.find() ? fork.group(1) : "", name -> new ArrayList<>())
                            .add(new Row(test.group(1), module, end - (long) (1000 * seconds), seconds));
                }
            }
        }
        return byFork;
    }

    private void attribute(Map<String, List<Row>> byFork) {
        byFork.values().forEach(rows -> rows.sort(Comparator.comparing(row -> row.begin)));
        for (Seen process : (Iterable<Seen>) ended.values().stream().flatMap(List::stream)::iterator) {
            List<Row> rows = byFork.get(process.fork == null ? "" : process.fork);
            if (process.fork != null && rows != null) {
                long last = 0;
                for (long[] sample : process.samples) {
                    Row row = rowAt(rows, sample[0]);
                    row.own += (sample[1] - last) / 100.0;
                    last = sample[1];
                }
            } else {
                String fork = forkAbove(process);
                if (byFork.containsKey(fork)) {
                    Row row = rowAt(byFork.get(fork), process.since);
                    row.started += process.ticks / 100.0;
                    row.jvms += process.java ? 1 : 0;
                }
            }
        }
    }

    /** A process whose parent has ended belongs to nobody any more, and is found by the parent that it had when it was seen first. */
    private String forkAbove(Seen process) {
        Seen at = process;
        for (int depth = 0; at != null && depth < 20; depth++) {
            if (at.fork != null) {
                return at.fork;
            }
            at = byPid(at.parent, process.since);
        }
        return "none";
    }

    private Seen byPid(long pid, long since) {
        Seen found = null;
        for (Seen one : ended.getOrDefault(pid, List.of())) {
            found = one.since <= since ? one : found;
        }
        return found;
    }

    private static Row rowAt(List<Row> rows, long time) {
        Row found = rows.get(0);
        for (Row row : rows) {
            found = row.begin <= time ? row : found;
        }
        return found;
    }

    private static void print(List<Row> rows) {
        Map<String, Row> modules = new TreeMap<>();
        for (Row row : rows) {
            row.classes = 1;
            modules.merge(row.module, row, Times::sum);
        }
        System.out.println("| module | classes | seconds | own processor seconds | of what it starts | JVMs |\n|---|--:|--:|--:|--:|--:|");
        modules.forEach((module, row) -> System.out.println(row.toString().replaceFirst("\\| [^|]*", "| " + module + " ")));
        rows.stream().reduce(Times::sum).ifPresent(all -> System.out.println(all.toString().replaceFirst("\\| [^|]*", "| all ")));
        System.out.println("\n| class | classes | seconds | own processor seconds | of what it starts | JVMs |\n|---|--:|--:|--:|--:|--:|");
        rows.stream()
                .sorted(Comparator.comparing((Row row) -> -row.seconds))
                .limit(MAX_CLASSES)
                .forEach(System.out::println);
    }

    private static Row sum(Row one, Row other) {
        Row sum = new Row("all", one.module, 0, one.seconds + other.seconds);
        sum.own = one.own + other.own;
        sum.started = one.started + other.started;
        sum.jvms = one.jvms + other.jvms;
        sum.classes = one.classes + other.classes;
        return sum;
    }
}
