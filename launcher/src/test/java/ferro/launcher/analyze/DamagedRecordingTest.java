package ferro.launcher.analyze;

import static ferro.launcher.Said.assertHas;
import static ferro.launcher.Said.assertLacks;
import static ferro.launcher.Said.assertStarts;
import static ferro.launcher.Said.message;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A rank whose recording is damaged wrote one: every report says so, with the reason. */
class DamagedRecordingTest {
    private static final String WHY = "is damaged: it is not valid JSON, or ends too early";

    @TempDir
    private Path folder;

    /** Rank 1 answered an earlier dump on one host; its later recording on another host is damaged. */
    @Test
    void anOutdatedRankWithADamagedRecordingIsReportedDamaged() throws Exception {
        RecordedJob job = new RecordedJob(3).calls(1, 5, 0).write(folder, "request", List.of(1));
        job.ask(folder).passes(34_000 * RecordedJob.MILLI);
        job.write(folder, "request", List.of(0, 2));
        Path other = Files.createDirectory(folder.resolve("other"));
        breakOf(other, 1);

        Analysis analysis = Analysis.of(List.of(folder, other), Optional.empty());

        String text = String.join("\n", analysis.text());
        assertHas(text, "the recording of rank 1 is left out: it answers an earlier ferro dump");
        assertHas(text, "rank 1 wrote a recording that " + WHY);
        assertStarts(analysis.verdict().get(1), "rank 1 wrote a recording that " + WHY);
        assertHas(analysis.html(), "\"damaged\":{\"1\":\"it is not valid JSON, or ends too early");
    }

    @Test
    void aReadableRecordingReplacesADamagedOne() throws Exception {
        new RecordedJob(2).calls(1, 5, 0).write(folder, "request", List.of(0, 1));
        Path other = Files.createDirectory(folder.resolve("other"));
        breakOf(other, 1);

        Analysis analysis = Analysis.of(List.of(folder, other), Optional.empty());

        assertLacks(String.join("\n", analysis.text()), "damaged");
        assertEquals(1, analysis.problems().size());
    }

    @Test
    void damageOfAllRecordingsIsReported() throws Exception {
        breakOf(folder, 0);
        breakOf(folder, 1);

        Analysis launched =
                Analysis.of(List.of(folder), Optional.of("a1b2c3d4"), file -> true, Optional.of(ProcessEnds.UNSEEN));
        Analysis brief = Analysis.of(Analysis.brief(folder, "a1b2c3d4", file -> true, 3), ProcessEnds.UNSEEN)
                .orElseThrow();
        String typed =
                message(UnreadableRecordingException.class, () -> Analysis.of(List.of(folder), Optional.empty()));

        for (Analysis each : List.of(launched, brief)) {
            assertEquals(
                    "no recording can be read, so nothing is known of any call: the recordings of ranks 0, 1 are"
                            + " damaged",
                    each.verdict().get(0));
            assertStarts(each.verdict().get(1), "ranks 0, 1 wrote a recording that " + WHY);
            assertHas(String.join("\n", each.text()), "ranks 0, 1 wrote a recording that " + WHY);
        }
        assertHas(typed, "ferro-a1b2c3d4-rank1.json: it is not valid JSON");
    }

    private static void breakOf(Path folder, int rank) throws IOException {
        Files.writeString(folder.resolve("ferro-a1b2c3d4-rank" + rank + ".json"), "{\"format\":1,");
    }
}
