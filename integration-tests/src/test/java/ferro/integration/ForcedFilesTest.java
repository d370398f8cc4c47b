package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.backend.tcp.net.SecretFile;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.harness.ForcedFiles;
import ferro.harness.OnThread;
import ferro.harness.Says;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Every place of the product that forces a file to disk, and whether it does, by the JDK's own event {@code jdk.FileForce}.
 * Files of checkpoints have a test of their own, {@code ferro.training.checkpoint.ForcedFilesTest}.
 */
class ForcedFilesTest {
    private static final Pattern FORCE = Pattern.compile("\\.(force|hsync|sync)\\(");
    /** How often the sources of a class force something. A new place needs a test that counts what it forces. */
    private static final Map<String, Long> PLACES = Map.of(
            "LocalStorage.java", 3L, // ForcedFilesTest in module training
            "HadoopStorage.java", 1L, // HadoopStorageTest in module spark
            "SecretFile.java", 1L,
            "JobAddressFile.java", 1L);

    @TempDir
    private Path folder;

    @Test
    void everyForcedFileHasATest() throws IOException {
        Map<String, Long> found = new TreeMap<>();
        for (Path file : MainSources.of(module -> true)) {
            long count = FORCE.matcher(Files.readString(file)).results().count();
            if (count > 0) {
                found.put(file.getFileName().toString(), count);
            }
        }

        assertEquals(new TreeMap<>(PLACES), found);
    }

    @Test
    void aNewSecretIsForcedToDisk() throws Exception {
        assertEquals(List.of("secret"), forced(() -> SecretFile.create(folder.resolve("secret"))));
    }

    /** Before it gets its name, so that no other rank reads a file without content after a crash. */
    @Test
    void theJobFileIsForcedBeforeItGetsItsName() throws Exception {
        List<String> forced = forced(() -> {
            List<CompletableFuture<Void>> ranks = new ArrayList<>();
            for (int rank = 0; rank < 2; rank++) {
                Map<String, String> settings = startedByMpirun(rank);
                ranks.add(OnThread.run(() -> joinAndLeave(settings)));
            }
            ranks.forEach(OnThread::result);
        });

        assertEquals(1, forced.size(), forced::toString);
        assertTrue(forced.get(0).matches("\\.key\\.[0-9a-f]{16}"), forced::toString);
    }

    private static void joinAndLeave(Map<String, String> settings) {
        try (SystemContext context = SystemContext.of(settings);
                ProcessGroup group = context.join()) {
            group.barrier();
        }
    }

    private Map<String, String> startedByMpirun(int rank) {
        return Map.of(
                "OMPI_COMM_WORLD_RANK", "" + rank,
                "OMPI_COMM_WORLD_SIZE", "2",
                "OMPI_COMM_WORLD_LOCAL_RANK", "" + rank,
                "OMPI_COMM_WORLD_LOCAL_SIZE", "2",
                "FERRO_JOB_ID", "key",
                "ferro.backend", "tcp",
                "ferro.links", "tcp",
                "ferro.job.dir", folder.toString());
    }

    /** Returns the names of files in the folder of the test that the JDK forces meanwhile. */
    private List<String> forced(Says.Call task) throws Exception {
        return ForcedFiles.during(folder, task).stream()
                .map(event -> folder.relativize(ForcedFiles.path(event)).toString())
                .toList();
    }
}
