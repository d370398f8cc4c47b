package ferro.launcher.output;

import static ferro.launcher.Said.assertHas;
import static ferro.launcher.Said.assertStarts;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Log files on a disk that takes no bytes: {@code /dev/full} stands for it. */
class RankLogFolderTest {
    private static final Path FULL = Path.of("/dev/full");

    @TempDir
    private Path folder;

    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final Screen screen = new Screen(err, err);

    @Test
    void aFullDiskCausesOneWarningForAllLogFiles() throws IOException {
        assumeTrue(Files.exists(FULL), "this system has no /dev/full");
        Files.createSymbolicLink(folder.resolve("rank-3.log"), FULL);
        Files.createSymbolicLink(folder.resolve("rank-3.err"), FULL);
        RankLogFolder log = RankLogFolder.in(Optional.of(folder), screen);

        try (OutputStream out = log.open(3, Screen.StreamName.OUT);
                OutputStream errors = log.open(3, Screen.StreamName.ERR)) {
            for (OutputStream file : List.of(out, errors, out)) {
                file.write("a line\n".getBytes(StandardCharsets.UTF_8));
            }
        }

        List<String> said = err.toString(StandardCharsets.UTF_8).lines().toList();
        assertEquals(1, said.size(), said::toString);
        assertStarts(said.get(0), "ferro: WARNING: " + folder.resolve("rank-3.log"));
        assertHas(said.get(0), "No space left on device");
    }

    @Test
    void aLogFileStatesTheNumberOfMissingBytes() throws IOException {
        Path file = folder.resolve("rank-2.err");
        Files.createDirectory(file);
        RankLogFolder log = RankLogFolder.in(Optional.of(folder), screen);

        try (OutputStream errors = log.open(2, Screen.StreamName.ERR)) {
            errors.write("lost\n".getBytes(StandardCharsets.UTF_8));
            Files.delete(file);
            errors.write("kept\n".getBytes(StandardCharsets.UTF_8));
            errors.write("too\n".getBytes(StandardCharsets.UTF_8));
        }

        assertEquals("\nferro: up to 5 bytes are missing here\nkept\ntoo\n", Files.readString(file));
    }
}
