package ferro.spark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * How many things of each kind a process holds: threads by name, descriptors by what they lead to, mappings and files of ferro in
 * {@code /dev/shm}. Includes those of Spark and of the JVM; excludes those that are open for counting.
 *
 * @param pid    process
 * @param byKind count of each kind
 */
record ProcessCounts(long pid, Map<String, Integer> byKind) {
    private static final Path SHARED = Path.of("/dev/shm");

    /** Threads that Spark keeps for a minute or longer, up to 128 of a pool; how many there are follows from when its jobs ended. */
    private static final Pattern POOLS_OF_SPARK =
            Pattern.compile("thread (block-manager-|shuffle-|rpc-|Executor task launch worker|task-result-getter).*");

    /** Counts in the process that calls; returns text, which {@link #parse} reads, as Spark may refuse to carry other classes. */
    static String ofThisProcess() throws IOException {
        long pid = ProcessHandle.current().pid();
        List<String> held = new ArrayList<>();
        Thread.getAllStackTraces().keySet().stream()
                .filter(Thread::isAlive)
                .forEach(thread -> held.add("thread " + thread.getName()));
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            open.map(ProcessCounts::target)
                    .filter(target -> !target.startsWith("/proc/"))
                    .forEach(target -> held.add("descriptor " + target));
        }
        try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
            maps.filter(line -> line.contains("/dev/shm/ferro")).forEach(line -> held.add("shm mapping"));
        }
        if (Files.isDirectory(SHARED)) {
            try (Stream<Path> files = Files.list(SHARED)) {
                files.map(file -> file.getFileName().toString())
                        .filter(name -> name.startsWith("ferro") && name.contains("-" + pid + "-"))
                        .forEach(name -> held.add("shm file"));
            }
        }
        return pid + "\n" + held.stream().map(ProcessCounts::kind).collect(Collectors.joining("\n"));
    }

    /** Returns the name without what differs between two of a kind: numbers, and names of files of the system. */
    private static String kind(String name) {
        return name.replaceAll("[0-9]+", "#").replace('\n', ' ');
    }

    /** Returns what a descriptor leads to; what the other task of this process has closed meanwhile is in /proc, as it looks too. */
    private static String target(Path link) {
        try {
            return Files.readSymbolicLink(link).toString();
        } catch (IOException closed) {
            return "/proc/";
        }
    }

    static ProcessCounts parse(String text) {
        List<String> lines = Arrays.asList(text.split("\n"));
        Map<String, Integer> byKind = new TreeMap<>();
        lines.subList(1, lines.size()).forEach(kind -> byKind.merge(kind, 1, Integer::sum));
        return new ProcessCounts(Long.parseLong(lines.get(0)), byKind);
    }

    /** Returns the kinds of which there are at least so many more than before, each with both counts. */
    List<String> grownBy(int least, ProcessCounts before) {
        List<String> grown = new ArrayList<>();
        byKind.forEach((kind, count) -> {
            int then = before.byKind.getOrDefault(kind, 0);
            if (count - then >= least && !POOLS_OF_SPARK.matcher(kind).matches()) {
                grown.add(kind + ": " + then + " to " + count);
            }
        });
        return grown;
    }
}
