package ferro.examples.guide;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;

/** Writes CSV files with made-up response times, the same files on each run. */
final class MakeCsv {
    public static void main(String[] arguments) throws IOException {
        Path folder = Files.createDirectories(Path.of(arguments[0]));
        for (int file = 0; file < 20; file++) {
            Random random = new Random(file);
            try (PrintWriter csv = new PrintWriter(
                    folder.resolve("day-" + (10 + file) + ".csv").toFile())) {
                csv.println("host,milliseconds");
                for (int line = 0; line < 5000; line++) {
                    double milliseconds = 20 * Math.exp(random.nextGaussian()); // a few are very slow
                    csv.println("web-" + random.nextInt(8) + "," + milliseconds);
                }
            }
        }
    }
}
