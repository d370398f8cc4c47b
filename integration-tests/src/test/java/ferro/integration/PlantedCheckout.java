package ferro.integration;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** The files that a program of folder config is tested with. */
abstract class PlantedCheckout {
    static final Path CHECKOUT = Path.of("..");

    @TempDir
    Path folder;

    void write(String path, String text) throws IOException {
        Path file = folder.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }
}
