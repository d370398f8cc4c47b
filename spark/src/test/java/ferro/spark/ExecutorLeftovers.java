package ferro.spark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What ferro has left open in this process. */
final class ExecutorLeftovers {
    private ExecutorLeftovers() {}

    /** Threads of ferro that do not end within seconds. */
    static String threads() {
        StringBuilder left = new StringBuilder();
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getName().startsWith("ferro") && !ends(thread)) {
                left.append(thread.getName()).append(' ');
            }
        }
        return left.toString();
    }

    private static boolean ends(Thread thread) {
        try {
            thread.join(10_000);
        } catch (InterruptedException asked) {
            Thread.currentThread().interrupt();
        }
        return !thread.isAlive();
    }

    /** Threads of ferro and mappings of shared memory; empty if there are none. */
    static String ofThisProcess() throws IOException {
        String threads = threads();
        try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
            return threads
                    + maps.filter(line -> line.contains("/dev/shm/ferro")).collect(Collectors.joining("\n"));
        }
    }
}
