package ferro.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How long the folder lives that a job's ranks record to. */
class RecordingsTest {
    private static final Target TARGET = new CommandTarget(List.of("true"));

    @TempDir
    private Path temporary;

    @Test
    void folderOfOursIsOursAloneAndGoesWithAJobThatEndsWell() throws IOException {
        Recordings recordings = Recordings.of(TARGET, Map.of());
        record(recordings);

        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(recordings.folder())));
        recordings.settle(true);
        assertFalse(Files.exists(recordings.folder()));
    }

    @Test
    void folderOfAFailedJobStaysIfThereIsSomethingInIt() throws IOException {
        Recordings recorded = Recordings.of(TARGET, Map.of());
        Path file = record(recorded);
        Recordings empty = Recordings.of(TARGET, Map.of());

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
    void folderThatTheUserNamesIsNeverRemoved() throws IOException {
        Recordings recordings = Recordings.of(TARGET, Map.of("FERRO_RECORDER_DIR", temporary.toString()));
        Path file = record(recordings);

        recordings.settle(true);

        assertTrue(Files.exists(file));
    }

    @Test
    void recordingsThatCannotBeReadCostTheDiagnosisOnly() throws IOException {
        Recordings recordings = Recordings.of(TARGET, Map.of("FERRO_RECORDER_DIR", temporary.toString()));
        record(recordings);

        assertEquals(Optional.empty(), recordings.analyzed("j"));
    }

    private static Path record(Recordings recordings) throws IOException {
        return Files.writeString(recordings.folder().resolve("ferro-j-rank0.json"), "{");
    }
}
