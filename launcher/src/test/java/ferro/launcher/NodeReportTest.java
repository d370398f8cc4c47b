package ferro.launcher;

import static ferro.launcher.JobOutcomes.ended;
import static ferro.launcher.JobOutcomes.outcome;
import static ferro.launcher.Said.assertHas;
import static ferro.launcher.Said.assertLacks;
import static ferro.launcher.Said.assertStarts;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.Gson;
import ferro.launcher.analyze.Analysis;
import ferro.launcher.input.Placement;
import ferro.launcher.nodes.LauncherEntry;
import ferro.launcher.nodes.LostNode;
import ferro.launcher.output.RankOutput;
import ferro.launcher.program.RecordingsFolder;
import ferro.launcher.rank.CoreBinding.UsableCores;
import ferro.launcher.rank.JobEvent;
import ferro.launcher.rank.Supervisor.JobOutcome;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What one launcher makes of the reports of two nodes or three. */
class NodeReportTest {
    private static final int MOST_VALUE_BYTES = 1 << 20;
    /** When ranks wrote their recordings; a launcher learned of the failure 1 s earlier. */
    private static final long WRITTEN = 5_000_000_000L;

    private static final long HEARD = 4_000_000_000L;

    @Test
    void aRankThatLeftEarlyOnAnotherNodeIsShownWithItsOutput() {
        String box = box(concluded(1, failed(lost(0, 1), 0), left(1, printed(1, 1))));

        assertHas(box, "| ferro: rank 1 ended too early: exit code 0", "node 1 (host h1, 10.0.0.2), pid 1001");
        assertHas(box, "line 0 of rank 1 ");
    }

    @Test
    void theTimeOfARankThatLeftOnAnotherNodeCountsOnTheClockOfNodeZero() {
        JobOutcome left = outcome(List.of(), List.of(ended(1, 0)));
        long clockBehind = -5_000_000_000L;
        NodeReport other = new NodeReport(
                        left, List.of(printed(1, 1)), null, Set.of(), "/nowhere", Map.of(), clockBehind, 0)
                .reported(recorded());

        String box = box(concluded(1, failed(lost(0, 1), 0), other));

        assertHas(box, "| ferro: rank 1 ended too early: exit code 0", ", 5.0 s after the start");
    }

    /** Three nodes of two ranks, all of which blame one rank. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5})
    void theFailedRankIsShownWithItsNodeProcessAndOutput(int failed) {
        NodeReport[] reports = new NodeReport[3];
        for (int node = 0; node < reports.length; node++) {
            int witness = node == failed / 2 ? failed ^ 1 : 2 * node;
            reports[node] = failed(lost(witness, failed), 2 * node, 2 * node + 1);
        }

        String box = box(concluded(2, reports));

        String node = "node " + failed / 2 + " (host h" + failed / 2 + ", 10.0.0." + (failed / 2 + 1) + ")";
        assertHas(box, "| ferro: rank " + failed + " failed first: exit code 1\n");
        assertHas(box, "| rank " + failed + ": " + node + ", pid " + (1000 + failed) + ", ");
        assertHas(box, "diagnosis: rank " + failed + " is to blame: it ended with exit code 1\n");
        assertHas(box, "last lines of rank " + failed + " (1):\n|   line 0 of rank " + failed + " ");
    }

    @Test
    void ranksOfAllNodesThatRecordedTheFailureFailedBecauseOfIt() {
        Analysis.Excerpt both = recorded(
                recording(2, "PEER_LOST", List.of(0), "rank 0 is gone"),
                recording(3, "PEER_LOST", List.of(0), "rank 0 is gone"));

        String box = box(concluded(2, failed(lost(1, 0), 0, 1), failed(both, 2, 3)));

        assertHas(box, "\n|   ranks 1-3 agree: PEER_LOST\n", "\n| failed because of it: ranks 1-3\n");
        assertLacks(box, "failed after it");
    }

    @Test
    void aRankWithoutKnownOutputIsShownWithoutOutput() {
        String box = box(concluded(1, failed(lost(0, 1), 0), left(1)));

        assertHas(box, "| ferro: rank 1 ended too early: exit code 0");
    }

    @Test
    void aReportOfManyRanksFitsIntoTheStoreAndKeepsTheFirstOutput() {
        List<JobEvent.RankEndEvent> ends =
                IntStream.range(0, 200).mapToObj(rank -> ended(rank, 1)).toList();
        List<RankOutput> printed =
                IntStream.range(0, 200).mapToObj(rank -> printed(rank, 20)).toList();

        NodeReport report = report(outcome(ends, List.of()), printed, null);
        String text = report.encoded();

        assertTrue(text.getBytes(StandardCharsets.UTF_8).length < MOST_VALUE_BYTES, text.length() + " characters");
        NodeReport decoded = NodeReport.decoded(text);
        assertEquals(200, decoded.outcome().failures().size());
        assertEquals(printed(0, 20), decoded.printed().get(0));
    }

    /** Eight ranks that each recorded what 17 threads executed. */
    @Test
    void stacksOfManyRanksLeaveSpaceForRecordingsAndOutput(@TempDir Path folder) throws IOException {
        List<JobEvent.RankEndEvent> ends =
                IntStream.range(0, 8).mapToObj(rank -> ended(rank, 1)).toList();
        List<RankOutput> printed =
                IntStream.range(0, 8).mapToObj(rank -> printed(rank, 1)).toList();
        List<Object> stacks = new ArrayList<>();
        for (int thread = 0; thread < 17; thread++) {
            Map<String, Object> stack = new HashMap<>(Map.of("at", 7, "reason", "failure of group world", "group", ""));
            stack.putAll(
                    Map.of("joined", thread == 3 ? 1 : 0, "location", "Program.main(Program.java:" + thread + ")"));
            stack.put("frames", Collections.nCopies(256, "Program.main(Program.java:" + thread + ")"));
            stacks.add(stack);
        }
        for (int rank = 0; rank < 8; rank++) {
            Map<String, Object> recording = fields(rank, "PEER_LOST", List.of(5), "rank 5 is gone");
            recording.put("worldSize", 8);
            recording.put("stacks", stacks);
            Files.writeString(folder.resolve("ferro-job-rank" + rank + ".json"), new Gson().toJson(recording));
        }
        JobOutcome failed = outcome(ends, List.of());

        Analysis.Excerpt recordings = new RecordingsFolder(folder, false, Map.of()).brief("job");
        NodeReport decoded =
                NodeReport.decoded(report(failed, printed, recordings).encoded());

        assertEquals(printed, decoded.printed());
        assertEquals(8, decoded.recordings().texts().size());
        String text = decoded.recordings().texts().get(0);
        assertHas(text, "Program.java:3)");
        assertTrue(text.length() < 1_500, () -> text.length() + " characters");
    }

    @Test
    void tooLongRecordingsAreLeftOutBeforeOutput() {
        Analysis.Excerpt recordings = recorded("x".repeat(600_000));
        List<RankOutput> printed = List.of(printed(0, 3), printed(1, 3));

        NodeReport decoded =
                NodeReport.decoded(report(outcome(List.of(ended(0, 1), ended(1, 1)), List.of()), printed, recordings)
                        .encoded());

        assertEquals(List.of(printed.get(0), printed.get(1).brief()), decoded.printed());
        assertNull(decoded.recordings());
    }

    @Test
    void theEndsFileHasTheShortenedExceptionAndTheTimeOfTheFailure(@TempDir Path folder) throws IOException {
        String thrown = "java.lang.IllegalStateException: no data" + " ".repeat(20) + "x".repeat(1_000);
        RankOutput output = new RankOutput(1, 1001, List.of("Exception in thread \"main\" " + thrown), List.of());
        Files.writeString(
                folder.resolve("ferro-job-rank0.json"), recording(0, "PEER_LOST", List.of(1), "rank 1 is gone"));
        JobOutcome failed = new JobOutcome(
                List.of(ended(1, 1)), List.of(), Set.of(), HEARD + 1, Map.of(), null, null, Map.of(), HEARD);

        new NodeReport(failed, List.of(output), null, Set.of(), null, Map.of(), 0, 17)
                .keep(new RecordingsFolder(folder, false, Map.of()), "job", new Placement(1, 2, 1), List.of());

        String text = Files.readString(folder.resolve("ferro-job-ends1.json"));
        assertHas(text, "java.lang.IllegalStateException: no data    ", "\"stoppedWallNanos\":" + (HEARD + 17));
        assertTrue(text.length() < 400, text);
    }

    @Test
    void aNodeWithOnlyDamagedRecordingsReportsReasonAndFolder() {
        Analysis.Excerpt damaged = new Analysis.Excerpt(List.of(), Map.of(0, "it ends too early"));
        NodeReport report = NodeReport.decoded(failed(damaged, 0).encoded());

        assertEquals("/nowhere", report.folder());
        Postmortem merged = merged(Map.of(0, report), List.of(entry(0, 1, 2), entry(1, 1, 2)), note -> {});
        String box = box(GenerationOutcome.of(merged, List.of(), 0, false).after(List.of()));
        assertHas(
                box,
                "no recording can be read, so nothing is known of any call: the recording of rank 0 is" + " damaged");
        assertHas(box, "rank 0 wrote a recording that is damaged: it ends too early");
    }

    @Test
    void aDamagedRecordingIsReportedByAllNodes() {
        Analysis.Excerpt damaged = new Analysis.Excerpt(List.of(), Map.of(1, "it ends too early"));
        NodeReport first = failed(lost(0, 1), 0);
        NodeReport second = failed(damaged, 1);

        String box = box(concluded(1, first, second));

        assertHas(box, "its recording is damaged: it ends too early");
    }

    @Test
    void aFailedAnalysisLeavesOutOnlyTheVerdict() {
        Analysis.Excerpt recordings = new Analysis.Excerpt(Arrays.asList("{}", null), Map.of());
        NodeReport report = failed(recordings, 0);
        List<String> notes = new ArrayList<>();

        Postmortem merged = merged(Map.of(0, report), List.of(entry(0, 1, 2), entry(1, 1, 2)), notes::add);

        String box = box(GenerationOutcome.of(merged, List.of(), 0, false).after(notes));
        assertHas(box, "| ferro: rank 0 failed first: exit code 1");
        assertEquals(Optional.empty(), merged.verdict());
        assertEquals(1, notes.size());
        assertStarts(notes.get(0), "the recordings could not be analyzed (java.lang.NullPointerException");
    }

    @Test
    void aLostNodeFailsAJobThatASignalEnded() {
        LostNode lost = new LostNode(entry(1, 1, 2), "its connection has ended");
        JobOutcome ended = outcome(List.of(), List.of(ended(0, 0)), Set.of(), "TERM", null, Map.of());

        GenerationOutcome conclusion = concluded(1, List.of(lost), report(ended, List.of(printed(0, 1)), null));

        assertEquals(143, conclusion.code());
        String lostOne = "node 1 (host h1, 10.0.0.2) is lost with its rank 1: its connection has ended";
        assertTrue(conclusion.notes().contains(lostOne), () -> "" + conclusion.notes());
    }

    @Test
    void aNodeWhoseOutputCannotBeShownIsNamed() {
        JobOutcome ended = outcome(List.of(), List.of(ended(1, 0)), Set.of(), null, "Broken pipe", Map.of());

        GenerationOutcome conclusion =
                concluded(1, left(0, printed(0, 1)), report(ended, List.of(printed(1, 1)), null));

        assertEquals(141, conclusion.code());
        assertHas(conclusion.notes().get(0), "node 1 (host h1, 10.0.0.2): Broken pipe");
    }

    @Test
    void aRankThatItsLauncherStoppedIsNotBlamedForAnotherNode() {
        LostNode lost = new LostNode(entry(2, 2, 3), "its launcher sent nothing for 7.2 s");
        Analysis.Excerpt ended = recorded(recording(0, "ABORTED", List.of(3), "rank 3 was ended by shutdown"));

        String box = box(concluded(2, List.of(lost), report(stopped(0, 1), List.of(), ended), stoppedOnes(2, 3)));

        assertHas(box, "| ferro: node 2 is lost: its launcher sent nothing");
        assertLacks(box, "to blame");
        assertHas(box, "stopped because of it: ranks 0-3");
    }

    @Test
    void aRankThatWasBlamedBeforeItsLauncherStoppedItIsTheCause() {
        Analysis.Excerpt node = recorded(
                recording(0, "TIMED_OUT", List.of(3), "gave up on rank 3").replace("" + WRITTEN, "" + (HEARD - 1)),
                recording(1, "ABORTED", List.of(2), "rank 2 was ended by shutdown"));

        String box = box(concluded(
                2, report(stoppedAfter(List.of(ended(0, 1)), 1), List.of(printed(0, 1)), node), stoppedOnes(2, 3)));

        assertHas(box, "| ferro: rank 3 is to blame; rank 0 failed first: exit code 1");
        assertHas(box, "| diagnosis: rank 3 is to blame: it wrote no recording until the launcher stopped it\n");
    }

    @Test
    void theBoxOfALostNodeBlamesNoRankOfAnotherNode() {
        LostNode lost = new LostNode(entry(2, 2, 3), "its launcher sent nothing for 7.2 s");
        Analysis.Excerpt first = lost(0, 1);
        Analysis.Excerpt second = recorded(recording(0, "PARTITION", List.of(4, 5), "nothing heard"));

        String mixed = box(concluded(
                2,
                List.of(lost),
                report(outcome(List.of(), List.of(ended(1, 0))), List.of(), first),
                stoppedOnes(2, 3)));
        String agreeing = box(concluded(2, List.of(lost), report(stopped(0, 1), List.of(), second), stoppedOnes(2, 3)));

        assertLacks(mixed, "rank 1 is to blame");
        assertHas(agreeing, "| diagnosis: ranks 4, 5 are to blame: they did not answer on node 2 (host h2,");
    }

    @Test
    void aForwardedSignalIsReportedOnlyForRanksOfThatNode() {
        JobOutcome signalled =
                outcome(List.of(ended(1, 138)), List.of(), Set.of(), null, null, Map.of("USR1", Set.of(1)));
        String line = "its launcher received signal USR1 and passed it on to its ranks";
        NodeReport well = left(0);
        NodeReport killed = report(outcome(List.of(ended(0, 138)), List.of()), List.of(), null);

        String own = box(concluded(1, well, report(signalled, List.of(), null)));
        String other = box(concluded(1, killed, report(signalled, List.of(), null)));

        assertHas(own, "rank 1 failed first: ended by signal USR1 (exit code 138)", line);
        assertHas(other, "rank 0 failed first: ended by signal USR1");
        assertLacks(other, line);
    }

    @Test
    void recordingsOnThisHostAreReadByOneCommand(@TempDir Path folder) throws IOException {
        List<LauncherEntry> nodes = List.of(entry(0, 1, 2), entry(1, 1, 2));
        String first = "" + Files.createDirectory(folder.resolve("first"));
        String second = "" + Files.createDirectory(folder.resolve("second"));
        Files.createFile(folder.resolve("first/ferro-job-rank0.json"));
        Files.createFile(folder.resolve("second/ferro-job-rank1.json"));

        List<String> known = new RecordingLocations(nodes, Map.of(0, first, 1, second)).more();
        List<String> unknown = new RecordingLocations(nodes, Map.of(0, first, 1, "/nowhere")).more();

        List<String> alike = new RecordingLocations(nodes, Map.of(0, first, 1, first)).more();

        List<String> one = new RecordingLocations(nodes, Map.of(0, first)).more();

        assertTrue(one.get(1).startsWith("  on host h0: ") && one.get(1).endsWith(" analyze " + first), one::toString);
        assertEquals(List.of("  " + first + " on host h0", "  " + first + " on host h1"), alike.subList(1, 3));
        assertEquals(2, known.size(), known::toString);
        assertTrue(known.get(1).endsWith(" analyze " + first + " " + second), known::toString);
        assertHas(unknown.get(0), ": copy these folders to one host, then ");
        assertEquals(List.of("  " + first + " on host h0", "  /nowhere on host h1"), unknown.subList(1, 3));
    }

    @Test
    void onlyLaunchersOnTheSameCoresShareThem() {
        LauncherEntry one = new LauncherEntry(1, "a", "10.0.0.1", 2, 3, "1", "", "", 1, "boot [0, 1]", "", 0);
        LauncherEntry beside = new LauncherEntry(2, "b", "10.0.0.2", 2, 3, "1", "", "", 2, "boot [0, 1]", "", 0);
        LauncherEntry elsewhere =
                new LauncherEntry(0, "c", "10.0.0.3", 2, 3, "1", "", "", 3, "other boot [0, 1]", "", 0);
        LauncherEntry unknown = new LauncherEntry(2, "c", "10.0.0.3", 2, 3, "1", "", "", 3, "", "", 0);

        assertTrue(one.sharesCores(beside));
        assertFalse(one.sharesCores(elsewhere));
        assertFalse(unknown.sharesCores(unknown));
        List<LauncherEntry> job = List.of(elsewhere, one, beside);
        UsableCores all = new UsableCores(4, List.of(0, 1, 2, 3));
        assertEquals(List.of(0, 1), Job.cores(job, 1, all).allowed());
        assertEquals(List.of(2, 3), Job.cores(job, 2, all).allowed());
        assertEquals(all, Job.cores(job, 0, all));
    }

    private static JobOutcome stopped(Integer... ranks) {
        return stoppedAfter(List.of(), ranks);
    }

    /** The launcher knows of a failure and has stopped ranks. */
    private static JobOutcome stoppedAfter(List<JobEvent.RankEndEvent> failures, Integer... ranks) {
        return new JobOutcome(failures, List.of(), Set.of(ranks), HEARD, Map.of(), null, null, Map.of(), HEARD);
    }

    private static GenerationOutcome concluded(int ranks, NodeReport... reports) {
        return concluded(ranks, List.of(), reports);
    }

    private static GenerationOutcome concluded(int ranks, List<LostNode> lost, NodeReport... reports) {
        Map<Integer, NodeReport> byNode = new TreeMap<>();
        for (int node = 0; node < reports.length; node++) {
            byNode.put(node, reports[node]);
        }
        int nodes = Math.max(2, reports.length + (reports.length > 1 ? lost.size() : 0));
        List<LauncherEntry> entries = IntStream.range(0, nodes)
                .mapToObj(node -> entry(node, ranks, nodes))
                .toList();
        return GenerationOutcome.of(merged(byNode, entries, Assertions::fail), lost, 0, false);
    }

    private static String box(GenerationOutcome conclusion) {
        return String.join("\n", conclusion.box().lines(120));
    }

    private static LauncherEntry entry(int node, int ranks, int nodes) {
        return new LauncherEntry(
                node, "h" + node, "10.0.0." + (node + 1), ranks, nodes, "1", "", "", 17 + node, "", "", 0);
    }

    private static Postmortem merged(
            Map<Integer, NodeReport> reports, List<LauncherEntry> nodes, Consumer<String> notes) {
        return Postmortem.of(reports, nodes, 0, ends -> NodeReport.analyzed(reports.values(), ends, notes));
    }

    /** The clock of the report is the wall clock. */
    private static NodeReport report(JobOutcome outcome, List<RankOutput> printed, Analysis.Excerpt recordings) {
        Map<Integer, Long> orders = new TreeMap<>();
        outcome.failures().forEach(end -> orders.put(end.rank(), 1L + end.rank()));
        return new NodeReport(outcome, printed, null, Set.of(), "/nowhere", orders, 0, 0)
                .reported(recordings == null ? recorded() : recordings);
    }

    private static NodeReport failed(Analysis.Excerpt recordings, Integer... ranks) {
        List<JobEvent.RankEndEvent> ends =
                Stream.of(ranks).map(rank -> ended(rank, 1)).toList();
        List<RankOutput> printed =
                Stream.of(ranks).map(rank -> printed(rank, 1)).toList();
        return report(outcome(ends, List.of()), printed, recordings);
    }

    private static NodeReport left(int rank, RankOutput... printed) {
        return report(outcome(List.of(), List.of(ended(rank, 0))), List.of(printed), null);
    }

    private static NodeReport stoppedOnes(Integer... ranks) {
        return report(stopped(ranks), List.of(), null);
    }

    private static Analysis.Excerpt lost(int witness, int lost) {
        return recorded(recording(witness, "PEER_LOST", List.of(lost), "rank " + lost + " is gone"));
    }

    private static Analysis.Excerpt recorded(String... texts) {
        return new Analysis.Excerpt(List.of(texts), Map.of());
    }

    private static String recording(int rank, String code, List<Integer> culprits, String text) {
        return new Gson().toJson(fields(rank, code, culprits, text));
    }

    private static Map<String, Object> fields(int rank, String code, List<Integer> culprits, String text) {
        Map<String, Object> failure =
                Map.of("code", code, "culprits", culprits, "sequence", -1, "origin", rank, "text", text);
        return JobOutcomes.recording(rank, List.of(0, 1, 2, 3, 4, 5), failure);
    }

    private static RankOutput printed(int rank, int lines) {
        String end = " of rank " + rank + " " + "x".repeat(380);
        List<String> last =
                IntStream.range(0, lines).mapToObj(line -> "line " + line + end).toList();
        return new RankOutput(rank, 1000 + rank, List.of(), last);
    }
}
