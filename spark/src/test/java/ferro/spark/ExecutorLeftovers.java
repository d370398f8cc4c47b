package ferro.spark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The resources that ferro has left open in this process. */
final class ExecutorLeftovers {
    private static final Path SHARED = Path.of("/dev/shm");

    private ExecutorLeftovers() {}

    static String threads() {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        StringBuilder left = new StringBuilder();
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getName().startsWith("ferro") && !ends(thread, deadline)) {
                left.append(thread.getName()).append(' ');
            }
        }
        return left.toString();
    }

    private static boolean ends(Thread thread, long deadline) {
        try {
            thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime())));
        } catch (InterruptedException asked) {
            Thread.currentThread().interrupt();
        }
        return !thread.isAlive();
    }

    static String ofThisProcess() throws IOException {
        String threads = threads();
        String pid = "-" + ProcessHandle.current().pid() + "-";
        try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
            return threads
                    + maps.filter(line -> line.contains("/dev/shm/ferro")).collect(Collectors.joining("\n"))
                    + names(SHARED, name -> name.startsWith("ferro") && name.contains(pid))
                    // .ferro is a folder that the build makes
                    + names(Path.of("").toAbsolutePath(), name -> name.contains("ferro") && !name.equals(".ferro"));
        }
    }

    private static String names(Path folder, Predicate<String> left) throws IOException {
        if (!Files.isDirectory(folder)) {
            return "";
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).filter(left).collect(Collectors.joining(" "));
        }
    }
}
