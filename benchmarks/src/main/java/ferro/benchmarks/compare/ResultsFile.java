package ferro.benchmarks.compare;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;

/**
 * The file with all measurements of all runs. Each measurement is appended as soon as it is made, so that several short
 * runs give full tables. Files of several machines or folders may be concatenated.
 *
 * @param path path of the file
 */
record ResultsFile(Path path) {
    void append(Measurement measurement) throws IOException {
        String head = Files.exists(path) ? "" : Measurement.HEAD + "\n";
        Files.writeString(path, head + measurement.csv() + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    List<Measurement> read() throws IOException {
        if (!Files.exists(path)) {
            return List.of();
        }
        try (Stream<String> lines = Files.lines(path)) {
            return lines.filter(line -> !line.equals(Measurement.HEAD) && !line.isBlank())
                    .map(Measurement::parse)
                    .toList();
        }
    }
}
