package ferro.benchmarks.compare;

import ferro.spi.LinuxFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.List;

/** The line of text next to the measurements of a comparison that describes the machine. */
final class MachineDescription {
    static final String FILE = "machine.txt";

    private MachineDescription() {}

    /** Writes the line that describes this machine. */
    static void write(Path folder) throws IOException {
        Files.writeString(folder.resolve(FILE), line() + "\n");
    }

    /** Returns the lines about machines in a folder of measurements. Old measurements have no lines about machines. */
    static List<String> notes(Path folder) throws IOException {
        Path file = folder.resolve(FILE);
        return Files.exists(file) ? Files.readAllLines(file) : List.of();
    }

    private static String line() throws IOException {
        return Runtime.getRuntime().availableProcessors() + " cores" + processor() + ", JDK "
                + Runtime.version().feature() + ", " + System.getProperty("os.name") + " "
                + System.getProperty("os.version") + ", " + LocalDate.now();
    }

    private static String processor() {
        return LinuxFiles.HOST
                .field("cpuinfo", "model name")
                .map(line -> " (" + line.replaceFirst(".*: *", "") + ")")
                .orElse("");
    }
}
