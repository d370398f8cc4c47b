package ferro.recorder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException.Code;
import ferro.GroupEvent;
import ferro.GroupEvent.Kind;
import ferro.spi.GroupSpec;
import ferro.spi.TestContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FlightRecorderTest {
    private static final GroupSpec RANK_2_OF_4 = GroupSpec.of("world", 2, 4, Duration.ofSeconds(3));

    @TempDir
    private Path folder;

    private final GroupOfTest world = new GroupOfTest();
    private final FlightRecorder recorder = recorder(Map.of());

    private static FlightRecorder recorder(Map<String, String> settings) {
        return FlightRecorder.of(TestContext.of(settings), RANK_2_OF_4);
    }

    private String written(FlightRecorder recorder) throws IOException {
        return Files.readString(recorder.write(folder, "request"));
    }

    private static void assertHas(String record, String... parts) {
        for (String part : parts) {
            assertTrue(record.contains(part), record);
        }
    }

    @Test
    void anOperationInFlightIsRecordedWithItsProgress() throws IOException {
        GroupRecorder group = recorder.enter("world", 2, new int[] {0, 1, 2, 3}, world);
        group.submitted(16, "barrier by dissemination", 0, 90);
        int running = group.submitted(17, "allReduce f32[64] sum by ring", 256, 100);
        group.running(running);
        world.status = new RecordedGroup.RecordedStatus(17, "step 3 of 14, 64 of 256 bytes received", Set.of(3, 1));

        String record = written(recorder);

        assertHas(
                record,
                "{\"group\":\"world\",\"sequence\":16,\"kind\":\"barrier\",\"text\":"
                        + "\"barrier by dissemination\",\"bytes\":0,\"begun\":90,\"ended\":0,\"state\":\"queued\","
                        + "\"code\":null,\"step\":-1,\"bytesMoved\":0,\"waitingFor\":[]}",
                "\"sequence\":17,\"kind\":\"allReduce\",\"text\":\"allReduce f32[64] sum by ring\","
                        + "\"bytes\":256,\"begun\":100,\"ended\":0,\"state\":\"running\",\"code\":null,\"step\":-1,"
                        + "\"bytesMoved\":0,\"waitingFor\":[1,3],\"progress\":\"step 3 of 14, 64 of 256 bytes received\"}");
    }

    @Test
    void theRecordHasTheHostOfTheSetting() throws IOException {
        String record = written(recorder(Map.of("ferro.host", "b")));

        assertTrue(record.contains("\"worldSize\":4,\"host\":\"b\","), record);
    }

    @Test
    void aMessageInFlightIsRecordedWithItsPeer() throws IOException {
        GroupRecorder group = recorder.enter("world[2, 3]", 0, new int[] {2, 3}, world);
        group.running(group.message("recv from rank 1 tag 7", 100, 90, 1));

        String record = written(recorder);

        assertHas(
                record,
                "{\"group\":\"world[2, 3]\",\"sequence\":-1,\"kind\":\"recv\",\"text\":"
                        + "\"recv from rank 1 tag 7\",\"bytes\":100,\"begun\":90,\"ended\":0,\"state\":\"running\","
                        + "\"code\":null,\"step\":-1,\"bytesMoved\":0,\"waitingFor\":[3]}");
    }

    @Test
    void anEndedOperationIsRecordedWithItsResult() throws IOException {
        GroupRecorder group = recorder.enter("world", 2, new int[] {0, 1, 2, 3}, world);
        int good = group.submitted(1, "allReduce f32[64] sum by ring", 256, 100);
        int bad = group.submitted(2, "broadcast f32[64] root 0 by binomial", 256, 200);
        group.running(good);
        group.done(good, 150, 6, 192);
        group.failed(bad, 450, Code.TIMED_OUT, new GroupRecorder.Progress(3, 64, Set.of(0)));
        group.running(bad);
        group.done(bad, 460, 6, 256);

        String record = written(recorder);

        assertHas(
                record,
                "\"ended\":150,\"state\":\"done\",\"code\":null,\"step\":6,\"bytesMoved\":192," + "\"waitingFor\":[]}",
                "\"ended\":450,\"state\":\"failed\",\"code\":\"TIMED_OUT\",\"step\":3,"
                        + "\"bytesMoved\":64,\"waitingFor\":[0]}");
    }

    @Test
    void theRecordBeginsWithItsRankJobAndTime() throws IOException {
        FlightRecorder recorder = recorder(Map.of("FERRO_JOB_ID", "night/../run"));
        Path file = recorder.write(folder, "request");

        assertEquals("ferro-night____run-rank2.json", file.getFileName().toString());
        String record = Files.readString(file);
        assertTrue(
                record.startsWith("{\"format\":1,\"job\":\"night/../run\",\"rank\":2,\"worldSize\":4,\"host\":\""),
                record);
        assertTrue(record.contains("\"pid\":" + ProcessHandle.current().pid() + ",\"written\":\""), record);
        assertTrue(record.contains("\"clockNanos\":5000,\"reason\":\"request\""), record);
        assertTrue(record.endsWith("\"groups\":[\n],\"operations\":[\n],\"events\":[\n],\"stacks\":[\n]}\n"), record);
    }

    @Test
    void ranksInARecordAreThoseOfTheJoinedGroup() throws IOException {
        GroupOfTest pair = new GroupOfTest();
        GroupRecorder group = recorder.enter("world[2, 3]", 0, new int[] {2, 3}, pair);
        pair.failure = RecordedGroup.Failed.of(Code.PEER_LOST, 0, -1, Set.of(1), 2, "rank 1 is gone");
        group.event(GroupEvent.of(Kind.SUSPECTED, "world[2, 3]", 0, List.of(1), "rank 1 is silent"));

        String record = written(recorder);

        assertHas(
                record,
                "{\"name\":\"world[2, 3]\",\"rank\":0,\"ranks\":[2,3],\"worldSize\":2,\"failure\":"
                        + "{\"code\":\"PEER_LOST\",\"culprits\":[3],\"sequence\":-1,\"origin\":2,\"known\":2,\"text\":"
                        + "\"rank 1 is gone\"}}",
                "{\"at\":5000,\"group\":\"world[2, 3]\",\"kind\":\"SUSPECTED\",\"ranks\":[3],"
                        + "\"text\":\"rank 1 is silent\"}");
    }

    @Test
    void aClosedGroupKeepsItsFailureAndAReusedNameGetsANumber() throws IOException {
        GroupRecorder first = recorder.enter("pair", 0, new int[] {2, 3}, world);
        world.fail(Code.ABORTED, Set.of(1), "given up");
        first.close();
        world.failure = null;
        recorder.enter("pair", 0, new int[] {2, 3}, new GroupOfTest());

        String record = written(recorder);

        assertHas(
                record,
                "{\"name\":\"pair\",\"rank\":0,\"ranks\":[2,3],\"worldSize\":2,\"failure\":{",
                "{\"name\":\"pair#2\",\"rank\":0,\"ranks\":[2,3],\"worldSize\":2,\"failure\":null}");
    }

    private static List<Long> sequences(FlightRecorder recorder) {
        return recorder.operations().stream().map(entry -> entry.sequence).toList();
    }

    private static List<ThreadStack> stack(String thread) {
        return List.of(ThreadStack.ended(thread));
    }

    /** Returns reason and thread of each stack in a recording. */
    private static List<String> stacks(String record) {
        Matcher stack = Pattern.compile("\"reason\":\"([^\"]*)\",\"thread\":\"([^\"]*)\"")
                .matcher(record);
        return stack.results().map(one -> one.group(1) + ": " + one.group(2)).toList();
    }

    @Test
    void currentStacksOfAWorkingGroupFollowTheKeptStacks() throws IOException {
        GroupRecorder group = recorder.enter("world", 2, new int[] {0, 1, 2, 3}, world);
        group.stacks("asked by another rank", stack("earlier"));
        world.stacks = List.of(ThreadStack.of(Thread.currentThread(), "world", false));

        String record = written(recorder);

        assertEquals(
                List.of(
                        "asked by another rank: earlier",
                        "request: " + Thread.currentThread().getName()),
                stacks(record));
        assertHas(
                record,
                "{\"at\":5000,\"reason\":\"asked by another rank\",\"thread\":\"earlier\",\"joined\":1,"
                        + "\"group\":null,\"location\":\"\",\"frames\":[]}",
                "\"joined\":0,\"group\":\"world\",\"location\":\"",
                "\"ferro.recorder.FlightRecorderTest.currentStacksOfAWorkingGroup");
    }

    @Test
    void aFailedGroupHasTheStacksOfItsFailure() throws IOException {
        GroupOfTest pair = new GroupOfTest();
        List<ThreadStack> both = stack("both");
        recorder.enter("world", 2, new int[] {0, 1, 2, 3}, world).stacks("failure of group world", both);
        recorder.enter("pair", 0, new int[] {2, 3}, pair).stacks("failure of group pair", both);
        world.fail(Code.ABORTED, Set.of(1), "given up");
        world.stacks = stack("later");

        assertEquals(List.of("failure of group world: both"), stacks(written(recorder)));
    }

    @Test
    void stacksTakenJustBeforeAFailureAreReusedForTheFailure() throws IOException {
        GroupRecorder group = recorder.enter("world", 2, new int[] {0, 1, 2, 3}, world);
        List<ThreadStack> taken = stack("both");
        group.stacks("asked by a rank that waits", taken);
        group.stacks("failure of group world", taken);
        assertEquals(List.of("failure of group world: both"), stacks(written(recorder)));

        group.stacks("asked by a rank that waits", taken);
        assertEquals(List.of("failure of group world: both"), stacks(written(recorder)));
    }

    @Test
    void onlyTheNewestStacksAreKept() throws IOException {
        GroupRecorder group = recorder.enter("world", 2, new int[] {0, 1, 2, 3}, world);
        for (int i = 0; i < 20; i++) {
            group.stacks("asked", stack("a" + i));
        }
        assertEquals(List.of("asked: a19"), stacks(written(recorder)));
        for (int i = 0; i < 9; i++) {
            group.stacks("failure " + i, stack("f" + i));
        }
        List<String> kept = stacks(written(recorder));
        assertEquals(8, kept.size(), kept.toString());
        assertEquals("failure 1: f1", kept.get(0));
        assertEquals("failure 8: f8", kept.get(7));
    }

    @Test
    void stacksDoNotExceedTheLimitOfARecord() {
        GroupRecorder group = recorder.enter("world", 2, new int[] {0, 1, 2, 3}, world);
        for (int i = 0; i < 8; i++) {
            group.stacks("failure " + i, List.of(ThreadStack.of(Thread.currentThread(), "", true)));
        }
        assertTrue(recorder.bytes(4000, "asked").orElseThrow().length <= 4000);
    }

    @Test
    void textsAreEscapedAndCut() throws IOException {
        GroupRecorder group = recorder.enter("a\"b\\c\u001b[2J\u202e\n", 0, new int[] {2}, world);
        group.event(GroupEvent.of(Kind.LATE, "a", 0, List.of(), "x".repeat(5000)));

        String record = written(recorder);

        assertHas(record, "\"a\\\"b\\\\c\\u001b[2J\\u202e\\u000a\"", "\"" + "x".repeat(1000) + "...\"");
        assertFalse(record.contains("x".repeat(1001)), record);
    }

    @Test
    void newOperationsReplaceTheOldest() throws IOException {
        FlightRecorder recorder = recorder(Map.of("ferro.recorder.entries", "4"));
        GroupRecorder group = recorder.enter("world", 2, new int[] {0, 1, 2, 3}, world);
        int first = group.submitted(1, "barrier by dissemination", 0, 10);
        for (int sequence = 2; sequence <= 6; sequence++) {
            group.submitted(sequence, "barrier by dissemination", 0, 10 * sequence);
        }
        group.running(first);
        group.done(first, 100, 1, 0);

        assertEquals(List.of(3L, 4L, 5L, 6L), sequences(recorder));
        assertTrue(recorder.operations().stream().allMatch(OperationRing.RingEntry::isOpen), written(recorder));
    }

    @Test
    void aHangingOperationIsNotReplaced() throws IOException {
        FlightRecorder recorder = recorder(Map.of("ferro.recorder.entries", "16"));
        GroupRecorder pair = recorder.enter("pair", 0, new int[] {2, 3}, new GroupOfTest());
        pair.running(pair.message("recv from rank 1 tag 7", 100, 90, 1));
        GroupRecorder group = recorder.enter("world", 2, new int[] {0, 1, 2, 3}, world);
        for (int sequence = 1; sequence <= 3000; sequence++) {
            int entry = group.submitted(sequence, "allReduce f32[64] sum by ring", 256, 100);
            group.running(entry);
            group.done(entry, 150, 6, 192);
        }

        assertTrue(written(recorder).contains("\"text\":\"recv from rank 1 tag 7\",\"bytes\":100"), written(recorder));
        List<Long> sequences = sequences(recorder);
        assertEquals(16, sequences.size(), sequences.toString());
        assertEquals(List.of(-1L, 2986L), sequences.subList(0, 2), "the oldest first, then the last of the others");
    }

    @Test
    void endedOperationsAreReplacedWhateverTheirResult() {
        FlightRecorder recorder = recorder(Map.of("ferro.recorder.entries", "4"));
        GroupRecorder group = recorder.enter("world", 2, new int[] {0, 1, 2, 3}, world);
        group.done(group.submitted(1, "barrier by dissemination", 0, 10), 15, 1, 0);
        int failed = group.submitted(2, "barrier by dissemination", 0, 20);
        group.failed(failed, 25, Code.TIMED_OUT, new GroupRecorder.Progress(1, 0, Set.of(0)));
        group.submitted(3, "barrier by dissemination", 0, 30);
        group.running(group.submitted(4, "barrier by dissemination", 0, 40));
        List<List<Long>> kept = new ArrayList<>();
        for (long sequence = 5; sequence <= 8; sequence++) {
            group.done(group.submitted(sequence, "barrier by dissemination", 0, 10 * sequence), 90, 1, 0);
            kept.add(sequences(recorder).stream().sorted().toList());
        }

        assertEquals(
                List.of(
                        List.of(2L, 3L, 4L, 5L),
                        List.of(3L, 4L, 5L, 6L),
                        List.of(3L, 4L, 6L, 7L),
                        List.of(3L, 4L, 7L, 8L)),
                kept);
    }

    @Test
    void aGroupIsRecordedWithItsIdentity() throws IOException {
        world.identity = 0xfeed_0000_0000_0017L;
        recorder.enter("world", 2, new int[] {0, 1, 2, 3}, world);

        String record = written(recorder);

        assertTrue(record.contains("\"worldSize\":4,\"failure\":null,\"id\":\"feed000000000017\"}"), record);
    }

    @Test
    void culpritsAreAnUnmodifiableSetWithoutDuplicates() throws IOException {
        recorder.enter("pair", 0, new int[] {3, 2}, world);
        List<Integer> given = new ArrayList<>(List.of(1, 0, 1));
        world.fail(Code.ABORTED, given, "given up");
        given.clear();

        assertEquals(List.of(0, 1), List.copyOf(world.failure.culprits()));
        assertThrows(
                UnsupportedOperationException.class,
                () -> world.failure.culprits().add(2));
        String record = written(recorder);
        assertTrue(record.contains("\"culprits\":[3,2],"), record);
    }

    @Test
    void aNameIsFreeAgainOnceItsGroupIsRemoved() throws IOException {
        for (int number = 0; number <= 64; number++) {
            GroupRecorder group = recorder.enter("pair " + number, 0, new int[] {2, 3}, world);
            group.done(group.submitted(1, "barrier by dissemination", 0, 10), 20, 1, 0);
            group.close();
        }
        recorder.enter("pair 0", 0, new int[] {2, 3}, world);
        recorder.enter("pair 1", 0, new int[] {2, 3}, world);

        String record = written(recorder);

        assertHas(
                record, "{\"name\":\"pair 0\",", "{\"name\":\"pair 1#2\",", "{\"group\":\"pair 0@0\",\"sequence\":1,");
    }

    @Test
    void aTraceDoesNotPreventTheEndOfItsOperation() {
        OperationRing ring = new OperationRing(4);
        GroupRecorder group = new GroupRecorder(recorder, ring, "world", 2, new int[] {0, 1, 2, 3});
        int entry = group.submitted(1, "barrier by dissemination", 0, 10);
        ring.at(entry).trace = "no event of JFR";

        group.done(entry, 20, 1, 0);

        assertEquals(OperationRing.DONE, ring.read(ring.last()).state);
    }

    @Test
    void anOperationIsOpenUntilItsEndIsWritten() {
        OperationRing ring = new OperationRing(4);
        GroupRecorder group = new GroupRecorder(recorder(Map.of()), ring, "world", 2, new int[] {0, 1, 2, 3});
        int entry = group.submitted(1, "barrier by dissemination", 0, 10);

        assertTrue(ring.take(entry), "its end is being written, and no file would have it");
        assertEquals(new OperationRing.RingPosition(entry, List.of((long) entry)), ring.position(group));

        ring.show(entry, OperationRing.DONE);
        assertEquals(new OperationRing.RingPosition(entry, List.of()), ring.position(group));
    }

    @Test
    void withoutEntriesNothingIsRecordedOrWritten() {
        Path never = folder.resolve("never");
        FlightRecorder recorder =
                recorder(Map.of("ferro.recorder.entries", "0", "ferro.recorder.dir", never.toString()));
        GroupRecorder group = recorder.enter("world", 2, new int[] {0, 1, 2, 3}, world);
        int entry = group.submitted(1, "barrier by dissemination", 0, 10);
        group.running(entry);
        group.done(entry, 20, 1, 0);
        group.event(GroupEvent.of(Kind.LATE, "world", 2, List.of(1), "late"));
        group.groupFailed();
        group.close();

        assertEquals(0, entry);
        assertFalse(Files.exists(never));
        IllegalStateException refused =
                assertThrows(IllegalStateException.class, () -> recorder.write(folder, "request"));
        assertEquals(
                "rank 2 records nothing, because ferro.recorder.entries=0: unset it, or set it to more than 0",
                refused.getMessage());
    }

    @Test
    void aFolderThatCannotBeCreatedIsRefusedAtOnce() throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "not a folder");
        Map<String, String> settings =
                Map.of("ferro.recorder.dir", file.resolve("below").toString());

        IllegalArgumentException refused = assertThrows(IllegalArgumentException.class, () -> recorder(settings));

        assertTrue(
                refused.getMessage().startsWith("ferro.recorder.dir=" + file.resolve("below") + " cannot be written ("),
                refused.getMessage());
        assertTrue(refused.getMessage().endsWith("name a folder that this process can write, or unset it"));
    }
}
