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
 * The resources of a process, counted by kind. The kinds are thread names, targets of descriptors, and mappings and
 * files of ferro in {@code /dev/shm}. The counts include resources of Spark and of the JVM. They exclude resources that
 * are open only for counting.
 *
 * @param pid    the id of the process
 * @param byKind the number of resources of each kind
 */
record ProcessCounts(long pid, Map<String, Integer> byKind) {
    private static final Path SHARED = Path.of("/dev/shm");

    /**
     * The threads that Spark keeps for a minute or longer, up to 128 per pool. Their number depends on the times at
     * which jobs ended.
     */
    private static final Pattern POOLS_OF_SPARK =
            Pattern.compile("thread (block-manager-|shuffle-|rpc-|Executor task launch worker|task-result-getter).*");

    /** Returns counts as a text that {@link #parse} reads, because Spark may refuse to send other classes. */
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

    /** Removes numbers and names of system files, so that all resources of a kind have the same name. */
    private static String kind(String name) {
        return name.replaceAll("[0-9]+", "#").replace('\n', ' ');
    }

    /** Returns the target of a descriptor, or its name in /proc if the other task of this process has just closed it. */
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

    /** Returns the kinds whose count has grown by at least the given number, with both counts of each kind. */
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
