package ferro.launcher.analyze;

import static ferro.launcher.Said.assertHas;
import static ferro.launcher.Said.assertStarts;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.harness.Child;
import ferro.launcher.analyze.RecordedJob.TracedThread;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The timeline in a browser without a screen: that it opens, shows all there is, and marks who is to blame. */
class HtmlReportTest {
    private static final Path IMAGES = Path.of("../docs/images");
    private static final Pattern BODY = Pattern.compile("<body([^>]*)>");
    private static final Pattern FACT = Pattern.compile("data-([a-z-]+)=\"([^\"]*)\"");
    private static final long PATIENCE_SECONDS = 60;
    /** A recorder keeps 2,048, which takes some seconds: -Dferro.timeline.calls=2048. */
    private static final int CALLS = Integer.getInteger("ferro.timeline.calls", 512);

    @TempDir
    private Path folder;

    @Test
    void thePageLoadsNothing() throws Exception {
        String page = new RecordedJob(2)
                .calls(1, 3, 0)
                .analyzed(folder, List.of(0, 1))
                .html();

        assertFalse(
                Pattern.compile("(src|href)\\s*=|https?:|@import|url\\(")
                        .matcher(page)
                        .find(),
                "fetches something");
        assertHas(page, "default-src 'none'");
    }

    @Test
    void theTimelineShowsEveryOperationAndMarksTheCulprit() throws Exception {
        RecordedJob job = new RecordedJob(4).calls(1, 40, 2 * RecordedJob.MILLI);
        job.event(0, "PAUSED", List.of(1), "rank 1 was paused 3.1 s");
        job.allBut(2).forEach(rank -> job.hangs(rank, RecordedJob.GROUP, 41, RecordedJob.TEXT, 2));
        // while the name of the call is below it
        job.passes(5 * RecordedJob.MILLI).event(0, "SLOW", List.of(2), "rank 2 has not come yet");
        job.passes(100 * RecordedJob.MILLI).fail(job.allBut(2), "TIMED_OUT", List.of(2), 41, "gave up on rank 2");

        String shown = opened(job.analyzed(folder, job.allBut(2)).html());

        Map<String, String> facts = facts(shown);
        assertEquals("yes", facts.get("ready"), shown);
        assertEquals("2", facts.get("guilty"));
        assertEquals("" + 3 * 41, facts.get("operations"));
        assertEquals("4", facts.get("lanes"));
        assertEquals("5", facts.get("events"));
        assertTrue(Integer.parseInt(facts.get("markers")) > 0, "no marker");
        assertEquals("0", facts.get("overlaps"), "markers over texts");
        assertEquals("0", facts.get("over"), "texts over texts");
        assertEquals("", facts.get("lines"));
        assertStarts(facts.get("empty"), "wrote no recording (stopped");
        assertHas(shown, "<h1>rank 2 is to blame: it wrote no recording");
        assertHas(shown, "allReduce f32[262144] SUM by ring, seq 41 of group \"tcp\"</h2>");
    }

    @Test
    void theLaneOfADamagedRecordingIsLabelled() throws Exception {
        RecordedJob job = new RecordedJob(3).calls(1, 4, 0);
        job.allBut(2).forEach(rank -> job.hangs(rank, RecordedJob.GROUP, 5, RecordedJob.TEXT, 2));
        job.passes(100 * RecordedJob.MILLI).fail(job.allBut(2), "TIMED_OUT", List.of(2), 5, "gave up on rank 2");
        Files.writeString(folder.resolve("ferro-a1b2c3d4-rank2.json"), "{");

        String shown = opened(job.analyzed(folder, job.allBut(2)).html());

        String empty = facts(shown).get("empty");
        assertStarts(empty, "wrote a recording that is damaged: it is not valid JSON");
        assertHas(shown, "<td>recording damaged</td>");
    }

    @Test
    void theLaneOfARankThatMadeNoCallIsLabelled() throws Exception {
        RecordedJob job = new RecordedJob(3).calls(1, 9, 0);
        job.allBut(1).forEach(rank -> job.hangs(rank, RecordedJob.GROUP, 10, RecordedJob.TEXT, 1));

        Map<String, String> facts =
                facts(opened(job.analyzed(folder, job.allBut()).html()));

        assertEquals("1", facts.get("guilty"));
        assertEquals(
                "no call since allReduce 9: it computes, waits for something else, or has left", facts.get("empty"));
    }

    @Test
    void programLinesAreShownInLanesAndInTheTable() throws Exception {
        RecordedJob job = new RecordedJob(3).calls(1, 9, 0);
        for (int rank : job.allBut(1)) {
            job.hangs(rank, RecordedJob.GROUP, 10, RecordedJob.TEXT, 1);
            job.stack(
                    rank, 5, "request", new TracedThread(RecordedJob.GROUP, "Train.step at Train.java:4" + rank, "f"));
        }
        job.passes(40 * RecordedJob.MILLI);
        job.stack(1, 5, "request", new TracedThread("", "Train.load at Train.java:88", "f"));

        String shown = opened(job.analyzed(folder, job.allBut()).html());

        Map<String, String> facts = facts(shown);
        assertEquals(
                "allReduce 10  ·  Train.step at Train.java:40; no call since allReduce 9: Train.load at Train.java:88;"
                        + " allReduce 10  ·  Train.step at Train.java:42",
                facts.get("lines"));
        assertEquals("0", facts.get("over"), "texts over texts");
        for (String line : List.of("step at Train.java:40", "load at Train.java:88", "step at Train.java:42")) {
            assertHas(shown, "<td>Train." + line + "</td>");
        }
    }

    @Test
    void internalCallsAreNotCountedAndProgressIsShownAsRecorded() throws Exception {
        RecordedJob job = new RecordedJob(2).makes(0, "send to rank 1 tag -1").makes(1, "recv from rank 0 tag -1");
        job.makes(0, "send to rank 1 tag 7").makes(1, "recv from rank 0 tag 7");
        job.hangs(0, RecordedJob.GROUP, 1, RecordedJob.TEXT, 1).says(0, "step 3 of 14, 4000 of 8000 bytes received");

        String shown = opened(job.analyzed(folder, job.allBut()).html());

        assertEquals("3", facts(shown).get("operations"));
        assertHas(shown, "<td>step 3 of 14, 4000 of 8000 bytes received</td>");
    }

    @Test
    void ranksInADeadlockAreMarked() throws Exception {
        RecordedJob job = new RecordedJob(2).hangs(0, RecordedJob.GROUP, -1, "recv from rank 1 tag 0", 1);
        job.hangs(1, RecordedJob.GROUP, -1, "recv from rank 0 tag 0", 0);

        String shown = opened(job.analyzed(folder, job.allBut()).html());

        assertEquals("0,1", facts(shown).get("guilty"));
        assertHas(shown, "<h1>ranks 0, 1 wait for each other: a deadlock</h1>");
    }

    @Test
    void thePictureOfTheReadmeIsTheTimelineOfTheCommittedRecordings() throws Exception {
        String page = Analysis.of(List.of(IMAGES.resolve("recordings")), Optional.empty())
                .html();

        assertEquals(
                sha256(page.getBytes(StandardCharsets.UTF_8)) + "  timeline.html\n"
                        + sha256(Files.readAllBytes(IMAGES.resolve("timeline.png"))) + "  timeline.png\n",
                Files.readString(IMAGES.resolve("timeline.sha256")),
                "draw again with: benchmarks/pictures.sh");
    }

    @Test
    void theTimelineOfTheCommittedRecordingsOpens() throws Exception {
        String page = Analysis.of(List.of(IMAGES.resolve("recordings")), Optional.empty())
                .html();

        Map<String, String> facts = facts(opened(page));

        assertEquals("2", facts.get("guilty"));
        assertEquals("4", facts.get("lanes"));
        assertEquals("0", facts.get("overlaps"));
        assertHas(page, "--failed: #c2410c");
        for (String term : List.of("lane", "bar", "seq", "to blame", "line", "frame in the strip above")) {
            assertHas(page, "<dt>" + term);
        }
    }

    @Test
    void theTimelineOfSixteenRanksDrawsOnlyVisibleBars() throws Exception {
        RecordedJob job = new RecordedJob(16).calls(1, CALLS - 1, 0);
        job.allBut(15).forEach(rank -> job.hangs(rank, RecordedJob.GROUP, CALLS, RecordedJob.TEXT, 15));

        String page = job.analyzed(folder, job.allBut()).html();
        Map<String, String> facts = facts(opened(page));

        System.out.println("16 x " + CALLS + " operations: page of " + page.length() / 1024 + " KiB, drawn in "
                + facts.get("draw-millis") + " ms");
        assertEquals("yes", facts.get("ready"));
        assertEquals("" + (16 * (CALLS - 1) + 15), facts.get("operations"));
        assertEquals("15", facts.get("guilty"));
        int bars = Integer.parseInt(facts.get("drawn"));
        assertTrue(bars > 16 && bars < 16 * (CALLS - 1), bars + " bars");
    }

    private static String sha256(byte[] bytes) throws NoSuchAlgorithmException {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    }

    /** Opens a page in headless Chromium and returns the document as it is after its scripts have run. */
    private String opened(String html) throws IOException, InterruptedException {
        Path page = Files.writeString(folder.resolve("page.html"), html);
        List<String> line = new ArrayList<>(List.of(browser()));
        String options =
                "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
                        + " --disable-component-update --disable-sync --disable-dev-shm-usage --window-size=1400,1000 --dump-dom";
        line.addAll(List.of(options.split(" ")));
        line.addAll(List.of("--user-data-dir=" + folder.resolve("profile"), page.toUri() + "#inspect"));
        Path out = folder.resolve("dom.html");
        Process started = new ProcessBuilder(line)
                .redirectOutput(out.toFile())
                .redirectError(Redirect.DISCARD)
                .start();
        try {
            assertTrue(started.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS), "the browser has not ended");
        } finally {
            started.descendants().forEach(ProcessHandle::destroyForcibly);
            started.destroyForcibly().waitFor();
        }
        return Files.readString(out);
    }

    private static String browser() {
        Optional<Path> found = Child.installed("chromium", "chromium-browser", "google-chrome");
        assumeTrue(found.isPresent(), "no Chromium in PATH, so that nobody has looked at the page: install chromium");
        return found.orElseThrow().toString();
    }

    private static Map<String, String> facts(String shown) {
        Matcher body = BODY.matcher(shown);
        assertTrue(body.find(), () -> "no body in " + shown);
        return FACT.matcher(body.group(1))
                .results()
                .collect(Collectors.toMap(found -> found.group(1), found -> found.group(2)));
    }
}
