package ferro.benchmarks;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The patches that take a safeguard out of a copy of the tree, for docs/performance/overhead.md. */
class OverheadPatchesTest {
    private static final Path CHECKOUT = Path.of("").toAbsolutePath().getParent();

    @TempDir
    private Path copy;

    @Test
    void everyPatchFitsTheSources() throws Exception {
        int patches = 0;
        try (DirectoryStream<Path> all =
                Files.newDirectoryStream(CHECKOUT.resolve("benchmarks/overhead/patches"), "*.patch")) {
            for (Path patch : all) {
                assertEquals("", refusal(patch), patch.getFileName() + ": make it anew with git diff -U1");
                patches++;
            }
        }
        assertEquals(2, patches);
    }

    /** Applies a patch to copies of the files that it names; returns what git says if it cannot, else nothing. */
    private String refusal(Path patch) throws IOException, InterruptedException {
        Path folder = Files.createDirectories(copy.resolve(patch.getFileName()));
        for (String line : Files.readAllLines(patch)) {
            if (line.startsWith("--- a/")) {
                String file = line.substring("--- a/".length());
                Files.createDirectories(folder.resolve(file).getParent());
                Files.copy(CHECKOUT.resolve(file), folder.resolve(file));
            }
        }
        ProcessBuilder git = new ProcessBuilder("git", "apply", patch.toString()).redirectErrorStream(true);
        git.directory(folder.toFile()).environment().put("GIT_CEILING_DIRECTORIES", copy.toString());
        Process process = git.start();
        String said = new String(process.getInputStream().readAllBytes(), UTF_8);
        return process.waitFor() == 0 ? "" : said.isEmpty() ? "refused" : said;
    }
}
