package ferro.training.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.harness.ForcedFiles;
import ferro.harness.Says;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A checkpoint is forced to disk, files and folders, as the JDK's own event {@code jdk.FileForce} records it. */
class ForcedFilesTest {
    @TempDir
    private Path temporary;

    private Path root;

    @BeforeEach
    void needFoldersThatCanBeForced() {
        root = temporary.resolve("checkpoints");
        assumeTrue(root.getFileSystem().supportedFileAttributeViews().contains("posix"), "no folder can be opened");
    }

    /** What a rank does with a storage. */
    @FunctionalInterface
    private interface StorageTask {
        void run(LocalStorage storage) throws IOException;
    }

    @Test
    void eachFileIsForcedBeforeItsFolderAndTheLatestStepLast() throws Exception {
        List<String> forced = forced(storage -> save(storage, 1, 7));

        // the owner takes the folder first
        List<String> expected = new ArrayList<>(List.of("latest.json.tmp", ".", "."));
        for (String file : List.of(
                "model-00001-of-00001.safetensors",
                "optimizer-00001-of-00001.safetensors",
                "model.safetensors.index.json",
                "checkpoint.json")) {
            expected.addAll(List.of("step-7/" + file, "step-7"));
        }
        // under the name of the owner, and the copy
        expected.addAll(List.of("latest.json.tmp", ".", "latest.json.tmp", "."));
        assertEquals(expected, forced);
    }

    @Test
    void everyFileOfThreeRanksIsForcedBeforeTheLatestStepIsPublished() throws Exception {
        List<String> forced = forced(storage -> save(storage, 3, 7));

        int taken = forced.indexOf("latest.json.tmp") + 1;
        int published = taken + forced.subList(taken, forced.size()).indexOf("latest.json.tmp");
        List<String> files = filesOf(7);
        assertEquals(8, files.size(), files::toString);
        for (String file : files) {
            int at = forced.indexOf(file);
            assertTrue(at >= 0 && at < published, () -> file + " is not forced before it is published: " + forced);
            int folder = at + forced.subList(at, forced.size()).indexOf("step-7");
            assertTrue(folder > at && folder < published, () -> "step-7 is not forced after " + file + ": " + forced);
        }
        assertEquals(".", forced.get(forced.size() - 1));
    }

    @Test
    void eachCreatedFolderIsForcedInItsParent() throws Exception {
        Path deep = root.resolve("jobs/17");

        List<String> forced = recorded(() -> LocalStorage.at(deep));

        assertEquals(List.of("..", ".", "jobs"), forced);
    }

    /** A force of the complete file at its end could take longer than a save may make no progress. */
    @Test
    void aLargeFileIsForcedWhileItIsWritten() throws Exception {
        int blocks = 65;
        LocalStorage storage = LocalStorage.at(root);

        List<String> forced = recorded(
                false,
                () -> storage.write("step-1/large", to -> {
                    for (int block = 0; block < blocks; block++) {
                        to.write(ByteBuffer.allocate(1 << 20));
                    }
                }));

        assertEquals(List.of("step-1/large"), forced);
    }

    private static void save(LocalStorage storage, int worldSize, long step) {
        SavingJob.each(worldSize, storage, (group, model, checkpoints) -> {
            checkpoints.save(step, model.fill(step).state());
        });
    }

    private List<String> filesOf(long step) throws IOException {
        try (Stream<Path> files = Files.list(OwnNames.folder(root, step))) {
            return files.map(this::fromRoot).collect(Collectors.toList());
        }
    }

    /** Returns what is forced while this runs with a storage that is there already. */
    private List<String> forced(StorageTask task) throws Exception {
        LocalStorage storage = LocalStorage.at(root);
        return recorded(() -> task.run(storage));
    }

    private List<String> recorded(Says.Call task) throws Exception {
        return recorded(true, task);
    }

    /** Returns the files and folders below the folder of the test that the JDK forces, with metadata or without, by time. */
    private List<String> recorded(boolean withMetadata, Says.Call task) throws Exception {
        return ForcedFiles.during(temporary, task).stream()
                .filter(event -> event.getBoolean("metaData") == withMetadata)
                .map(event -> fromRoot(ForcedFiles.path(event)))
                .toList();
    }

    private String fromRoot(Path path) {
        String relative = OwnNames.shortened(root.relativize(path).toString());
        return relative.isEmpty() ? "." : relative;
    }
}
