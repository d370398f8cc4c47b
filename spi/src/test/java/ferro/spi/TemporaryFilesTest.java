package ferro.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class TemporaryFilesTest {
    private static final Optional<String> NAMED = Optional.of("/scratch/job 7");

    @Test
    void theFolderOfTheJvmOptionTakesPrecedenceOverTmpdir() {
        assertEquals(Path.of("/told"), TemporaryFiles.folder("/told", NAMED));
        assertEquals(Path.of("told").toAbsolutePath(), TemporaryFiles.folder("told", NAMED));
    }

    @Test
    void tmpdirTakesPrecedenceOverTheDefaultOfTheJvm() {
        assertEquals(Path.of("/scratch/job 7"), TemporaryFiles.folder("/tmp", NAMED));
        assertEquals(Path.of("/tmp"), TemporaryFiles.folder("/tmp", Optional.of(" ")));
        assertEquals(Path.of("/tmp"), TemporaryFiles.folder("/tmp", Optional.empty()));
    }
}
