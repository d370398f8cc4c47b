package ferro.launcher.program;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.launcher.analyze.ProcessEnds;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How long the folder lives that a job's ranks record to. */
class RecordingsFolderTest {
    private static final LaunchTarget TARGET = (folder, few) -> List.of("true");

    @TempDir
    private Path temporary;

    @Test
    void theFolderOfRecordingsIsPrivateAndRemovedAfterASuccessfulJob() throws IOException {
        RecordingsFolder recordings = RecordingsFolder.of(TARGET, Map.of());
        record(recordings);

        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(recordings.folder())));
        recordings.settle(true);
        assertFalse(Files.exists(recordings.folder()));
    }

    @Test
    void theFolderOfAFailedJobStaysUnlessItIsEmpty() throws IOException {
        RecordingsFolder recorded = RecordingsFolder.of(TARGET, Map.of());
        Path file = record(recorded);
        RecordingsFolder empty = RecordingsFolder.of(TARGET, Map.of());

        recorded.settle(false);
        empty.settle(false);

        assertTrue(Files.exists(file));
        assertFalse(Files.exists(empty.folder()));
        // as when the guard of the job's folder has removed it
        empty.settle(false);
        empty.settle(true);
        recorded.settle(true);
    }

    @Test
    void recordingsOfTheLastTwentyGenerationsAreKept() throws IOException {
        RecordingsFolder job = RecordingsFolder.of(TARGET, Map.of());
        List<Path> files = new ArrayList<>();
        for (int generation = 0; generation < 22; generation++) {
            files.add(record(job.ofGeneration(generation)));
        }

        assertEquals(files.subList(2, 22), files.stream().filter(Files::exists).toList());
        job.settle(true);
        assertFalse(Files.exists(job.folder()));
    }

    @Test
    void aRecordingFolderOfTheUserIsNeverRemoved() throws IOException {
        RecordingsFolder recordings = RecordingsFolder.of(TARGET, Map.of("FERRO_RECORDER_DIR", temporary.toString()));
        Path file = record(recordings);

        recordings.settle(true);

        assertTrue(Files.exists(file));
        assertEquals(Optional.empty(), recordings.removable(), "left to the guard of the job's folder");
    }

    @Test
    void unreadableRecordingsAreReportedDamagedInTheDiagnosis() throws IOException {
        RecordingsFolder recordings = RecordingsFolder.of(TARGET, Map.of("FERRO_RECORDER_DIR", temporary.toString()));
        record(recordings);

        assertEquals(
                "no recording can be read, so nothing is known of any call: the recording of rank 0 is damaged",
                recordings
                        .analyzed("j", ProcessEnds.UNSEEN)
                        .orElseThrow()
                        .verdict()
                        .get(0));
    }

    @Test
    void recordingsFromBeforeTheJobAreIgnored() throws IOException {
        String earlier = "{\"format\":1,\"job\":\"default\",\"rank\":3,\"worldSize\":4,\"wallNanos\":5000000000,"
                + "\"clockNanos\":7,\"groups\":[],\"operations\":[]}";
        Path file = Files.writeString(temporary.resolve("ferro-default-rank3.json"), earlier);
        RecordingsFolder recordings = RecordingsFolder.of(TARGET, Map.of("FERRO_RECORDER_DIR", temporary.toString()));

        assertEquals(Optional.empty(), recordings.analyzed("default", ProcessEnds.UNSEEN));
        Files.setLastModifiedTime(file, FileTime.fromMillis(1_000));
        assertTrue(recordings.analyzed("default", ProcessEnds.UNSEEN).isPresent(), "written again");
    }

    private static Path record(RecordingsFolder recordings) throws IOException {
        return Files.writeString(recordings.folder().resolve("ferro-j-rank0.json"), "{");
    }
}
