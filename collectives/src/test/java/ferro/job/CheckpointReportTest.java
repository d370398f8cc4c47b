package ferro.job;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.group.SystemContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The report of published checkpoints, from the rank to the launcher. */
class CheckpointReportTest {
    @TempDir
    private Path folder;

    private Path file() {
        return folder.resolve("checkpoints");
    }

    private void published(Map<String, String> settings, long step) {
        try (SystemContext context = SystemContext.of(settings)) {
            CheckpointReport.of(context).published(step);
        }
    }

    @Test
    void theLauncherReadsTheStepThatWasPublishedLast() throws IOException {
        assertEquals(OptionalLong.empty(), CheckpointReport.last(file()));
        for (long step : List.of(90L, 1_200L, 25L)) {
            published(Map.of("FERRO_CHECKPOINT_REPORT", file().toString()), step);

            assertEquals(OptionalLong.of(step), CheckpointReport.last(file()));
        }
    }

    @Test
    void withoutALauncherNoCheckpointReportIsWritten() throws IOException {
        published(Map.of(), 7);

        try (Stream<Path> files = Files.list(folder)) {
            assertEquals(List.of(), files.toList());
        }
    }

    @Test
    void aReportThatCannotBeWrittenDoesNotFailTheSave() throws IOException {
        Path missing = folder.resolve("missing/checkpoints");

        published(Map.of("FERRO_CHECKPOINT_REPORT", missing.toString()), 7);

        assertEquals(OptionalLong.empty(), CheckpointReport.last(missing));
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "none",
            value = {"'', none", "'12', none", "'12\n34', 12", "'\n', none", "'12\nx\n', none", "'12\n34\n', 34"})
    void onlyACompleteLineOfTheReportCounts(String content, Long step) throws IOException {
        Files.writeString(file(), content);

        assertEquals(step == null ? OptionalLong.empty() : OptionalLong.of(step), CheckpointReport.last(file()));
    }
}
