package ferro.launcher.analyze;

import static ferro.launcher.Said.assertHas;
import static ferro.launcher.Said.assertLacks;
import static ferro.launcher.Said.assertStarts;
import static ferro.launcher.Said.message;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Files that are no recordings, from other programs, other times or strangers. */
class RecordingReaderTest {
    private static final String HEAD =
            "{\"format\":1,\"job\":\"j\",\"rank\":0,\"worldSize\":2,\"wallNanos\":5,\"clockNanos\":7";

    private static final int GROWTH = 16;
    private static final int WARM_UP = 30;

    /** Leaves room for caches that the larger world does not fit into, and for a machine that does other work. */
    private static final int MOST_TIMES_GROWTH = 4;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "`` | it is not a recording of ferro",
                "hello | it is not valid JSON, or ends too early",
                "[1,2] | need a JSON object, found a JsonArray",
                "{} | there is no \"format\"",
                "{\"format\":2} | it has format 2, but this ferro reads format 1",
                "{\"format\":1.5} | \"format\" is 1.5, need a whole number",
                "{\"format\":1e999999999} | need a whole number",
                "HEAD | it is not valid JSON, or ends too early",
                "HEAD} | there is no \"groups\"",
                "HEAD}{} | it is not valid JSON, or ends too early (line 1 column",
                "HEAD,\"groups\":{},\"operations\":[]} | \"groups\" is {}, need a list",
                "HEAD,\"groups\":[7],\"operations\":[]} | \"groups[0]\" is 7, need an object",
                "HEAD,\"groups\":[],\"operations\":[{\"kind\":1}]} | \"operations[0].kind\" is 1, need a text",
                "{\"format\":1,\"worldSize\":2,\"job\":\"j\",\"rank\":2} | \"rank\" is 2, need a number from 0 to 1",
                "{\"format\":1,\"worldSize\":-4} | \"worldSize\" is -4, need a number from 1",
                "{\"format\":1,\"worldSize\":65537} | \"worldSize\" is 65537, need a number from 1 to 65536",
            })
    void aBrokenFileIsNamedWithItsError(String content, String part) throws Exception {
        Path file = folder.resolve("ferro-j-rank0.json");
        Files.writeString(file, content.replace("HEAD", HEAD));

        String said = message(UnreadableRecordingException.class, () -> RecordingReader.read(file));

        assertStarts(said, file + ": ");
        assertHas(said, part);
    }

    @Test
    void deepNestingIsRefusedWithoutStackOverflow() throws Exception {
        Path file = Files.writeString(folder.resolve("ferro-j-rank0.json"), "[".repeat(1_000_000));

        assertThrows(UnreadableRecordingException.class, () -> RecordingReader.read(file));
    }

    /**
     * Sixteen times as many ranks take about 16 times as much processor time where the work per rank is bounded, and up to 256
     * times where each rank is compared with each other. Both are measured here, so that the speed of the machine is in both.
     */
    @Tag("long")
    @Test
    void theReadingTimeGrowsInProportionToTheRanks() throws Exception {
        int few = RecordingReader.MOST_RANKS / GROWTH;
        Path small = Files.createDirectory(folder.resolve("small"));
        Path large = Files.createDirectory(folder.resolve("large"));
        writeOneOf(few, small);
        writeOneOf(RecordingReader.MOST_RANKS, large);

        long ofFew = leastCpuNanos(small, few, WARM_UP);
        long most = MOST_TIMES_GROWTH * GROWTH * ofFew;
        long ofMany = leastCpuNanos(large, RecordingReader.MOST_RANKS, 1);
        if (ofMany > most) {
            // a collector or a cache may have been in the way once
            ofMany = leastCpuNanos(large, RecordingReader.MOST_RANKS, 1);
        }

        assertTrue(
                ofMany <= most,
                few + " ranks take " + ofFew + " ns, " + GROWTH + " times as many take " + ofMany + " ns");
    }

    private static void writeOneOf(int worldSize, Path folder) throws IOException {
        String ranks = IntStream.range(0, worldSize).mapToObj(Integer::toString).collect(Collectors.joining(","));
        String call = "{\"group\":\"g\",\"sequence\":1,\"kind\":\"barrier\",\"begun\":3,\"state\":\"running\"}";
        Files.writeString(
                folder.resolve("ferro-j-rank0.json"),
                "{\"format\":1,\"job\":\"j\",\"rank\":" + (worldSize - 1) + ",\"worldSize\":" + worldSize
                        + ",\"wallNanos\":5,\"clockNanos\":7,\"groups\":[{\"name\":\"g\",\"ranks\":[" + ranks
                        + "]}],\"operations\":[" + call + "]}");
    }

    /** Returns the least processor time of this thread for an analysis; the first ones are slower, as they are not compiled. */
    private static long leastCpuNanos(Path folder, int worldSize, int times) throws Exception {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        assumeTrue(threads.isCurrentThreadCpuTimeSupported(), "this JVM does not count processor time");
        long least = Long.MAX_VALUE;
        for (int time = 0; time < times; time++) {
            long begun = threads.getCurrentThreadCpuTime();
            Analysis analysis = Analysis.of(List.of(folder), Optional.empty());
            List<String> text = analysis.text();
            String html = analysis.html();
            least = Math.min(least, threads.getCurrentThreadCpuTime() - begun);

            assertEquals(worldSize - 1, analysis.guilty().size());
            assertStarts(text.get(0), "verdict: ranks 0-" + (worldSize - 2) + " are to blame");
            assertTrue(html.length() < 1 << 20);
        }
        return least;
    }

    @Test
    void aBrokenFileIsLeftOutAndReported() throws Exception {
        RecordedJob job = new RecordedJob(3).calls(1, 3, 0).write(folder, "request", List.of(0, 1, 2));
        Path cut = folder.resolve("ferro-a1b2c3d4-rank1.json");
        Files.writeString(cut, job.of(1).toString().substring(0, 500));

        Analysis analysis = Analysis.of(List.of(folder), Optional.empty());

        assertEquals(1, analysis.problems().size());
        assertStarts(analysis.problems().get(0), cut + ": ");
        assertTrue(analysis.missing().contains(1));
    }

    @Test
    void aFolderWithoutRecordingsIsReportedWithTheWayToGetThem() {
        String said = message(UnreadableRecordingException.class, () -> Analysis.of(List.of(folder), Optional.empty()));

        assertStarts(said, folder + " holds no recording (ferro-JOB-rankR.json): ranks write one");
    }

    @Test
    void escapedTextCannotMoveTheCursorOrBreakThePage() throws Exception {
        RecordedJob job = new RecordedJob(2).calls(1, 3, 0);
        job.event(0, "LATE", List.of(1), "\033[2J</script><script>alert(1)</script>\u202e");

        Analysis analysis = job.analyzed(folder, List.of(0, 1));

        String text = String.join("\n", analysis.text());
        assertFalse(text.contains("\033") || text.contains("\u202e"), text);
        assertHas(text, "LATE rank 1:  [2J</script>");
        assertLacks(analysis.html(), "<script>alert");
    }
}
