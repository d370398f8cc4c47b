package ferro.training.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A folder that two ranks of a build without owners have saved, steps 1 and 2: it is loaded, and a new job goes on in it. */
class FolderWithoutOwnerTest {
    @TempDir
    private Path temporary;

    private Path folder;

    @BeforeEach
    void copy() throws Exception {
        folder = temporary.resolve("saved");
        Path saved = Path.of(
                        getClass().getResource("FolderWithoutOwner/latest.json").toURI())
                .getParent();
        try (Stream<Path> all = Files.walk(saved)) {
            for (Path each : all.toList()) {
                Files.copy(each, folder.resolve(saved.relativize(each).toString()));
            }
        }
    }

    @Test
    void aFolderWithoutOwnerIsLoadedWithoutWriting() throws IOException {
        SavingJob.each(3, LocalStorage.at(folder), (group, model, checkpoints) -> {
            assertEquals(2, checkpoints.load(model.state()).step());
            model.assertOf(2);
            assertEquals(1, checkpoints.load(1, model.state()).step());
            model.assertOf(1);
        });
        assertEquals(List.of("latest.json", "step-1", "step-2"), names());
    }

    @Test
    void aNewJobTakesAFolderWithoutOwnerAndCleansItUp() throws IOException {
        Files.createDirectories(folder.resolve("step-7"));
        Files.write(folder.resolve("step-7/model-00001-of-00004.safetensors"), new byte[9]);
        Files.write(folder.resolve("latest.json.tmp"), new byte[9]);
        CheckpointSettings two = CheckpointSettings.DEFAULT.withKeepLast(2);
        SavingJob.each(2, LocalStorage.at(folder), two, (group, model, checkpoints) -> {
            checkpoints.load(model.state());
            checkpoints.save(3, model.fill(3).state());
        });
        SavingJob.each(2, LocalStorage.at(folder), (group, model, checkpoints) -> {
            assertEquals(3, checkpoints.load(model.state()).step());
            model.assertOf(3);
            checkpoints.load(2, model.state());
            model.assertOf(2);
        });
        assertFalse(Files.exists(folder.resolve("step-1")));
        assertEquals(List.of("latest.json", "latest.json", "step-2", "step-3"), names());
        String latest = Files.readString(folder.resolve("latest.json"));
        assertTrue(latest.contains("\"folder\":\"" + OwnNames.folder(folder, 3).getFileName() + "\""), latest);
    }

    @Test
    void theNameThatASparkAttemptPublishedIsRead() throws IOException {
        MemoryStorage storage = new MemoryStorage();
        storage.publish("latest-3-0123abcd.txt", "step-7-3-0123abcd 7 4".getBytes(StandardCharsets.US_ASCII));
        StateFolder next = StateFolder.in(storage, "app-1", 0);
        next.take();
        assertEquals(new SavedStep("step-7-3-0123abcd", 7, 4, 0), next.latest().orElseThrow());
        assertTrue(next.ofStep(8).startsWith("step-8-4-"), next.ofStep(8));

        storage.publish("latest-5-0123abcd.txt", "none -1 0".getBytes(StandardCharsets.US_ASCII));
        StateFolder last = StateFolder.in(storage, "app-1", 0);
        last.take();
        assertTrue(last.latest().isEmpty());
    }

    private List<String> names() throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.map(path -> OwnNames.shortened(path.getFileName().toString()))
                    .sorted()
                    .toList();
        }
    }
}
