package ferro.spark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What ferro has left open in this process. */
final class Leftovers {
    private Leftovers() {}

    /** Threads of ferro and mappings of shared memory; empty if there are none. */
    static String ofThisProcess() throws IOException {
        String threads = Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("ferro"))
                .sorted()
                .collect(Collectors.joining(" "));
        try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
            return threads
                    + maps.filter(line -> line.contains("/dev/shm/ferro")).collect(Collectors.joining("\n"));
        }
    }
}
