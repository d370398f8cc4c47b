package ferro.recorder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException.Code;
import ferro.GroupEvent;
import ferro.GroupEvent.Kind;
import ferro.spi.GroupSpec;
import ferro.spi.TestContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class RecordFolderTest {
    private static final GroupSpec RANK_1_OF_2 = GroupSpec.of("world", 1, 2, Duration.ofSeconds(3));

    @TempDir
    private Path outer;

    private Path file;
    private TestContext rank;
    private GroupRecorder group;
    private WatchService changes;
    private final GroupOfTest world = new GroupOfTest();

    @BeforeEach
    void join() throws IOException {
        Path folder = outer.resolve("made/by/it");
        file = folder.resolve("ferro-default-rank1.json");
        rank = TestContext.of(Map.of("ferro.recorder.dir", folder.toString()));
        group = FlightRecorder.of(rank, RANK_1_OF_2).enter("world", 1, new int[] {0, 1}, world);
        changes = folder.getFileSystem().newWatchService();
        folder.register(changes, StandardWatchEventKinds.ENTRY_CREATE, StandardWatchEventKinds.ENTRY_MODIFY);
    }

    @AfterEach
    void forgetChanges() throws IOException {
        changes.close();
    }

    /** Looks again whenever something has changed in the folder. */
    private void awaitFile(String... texts) throws InterruptedException {
        while (!Stream.of(texts).allMatch(this::says)) {
            WatchKey change = changes.take();
            change.pollEvents();
            change.reset();
        }
    }

    private boolean says(String text) {
        try {
            return Files.exists(file) && Files.readString(file).contains(text);
        } catch (IOException unreadable) {
            return false;
        }
    }

    private void leave() {
        group.close();
        FlightRecorder.release(rank);
    }

    @Test
    void aFailureAndItsLaterCulpritsAreWritten() throws InterruptedException {
        world.fail(Code.PEER_LOST, Set.of(0), "rank 0 is gone");
        group.groupFailed();
        awaitFile("\"reason\":\"first failure of group world\"", "rank 0 is gone");

        world.fail(Code.PEER_LOST, Set.of(0, 1), "both are gone");
        group.groupFailed();
        awaitFile("\"culprits\":[0,1]");

        leave();
    }

    private void failInAFile() throws InterruptedException {
        world.fail(Code.PEER_LOST, Set.of(0), "rank 0 is gone");
        group.groupFailed();
        awaitFile("rank 0 is gone");
    }

    @Test
    void aReceiveTimeoutBeforeTheEndOfTheRankIsWritten() throws IOException {
        int entry = group.message("recv from rank 0 tag 7", 100, 10, 0);
        group.failed(entry, 20, Code.TIMED_OUT, new GroupRecorder.Progress(-1, 0, Set.of(0)));
        leave();

        assertTrue(says("\"reason\":\"a call that timed out\""), "no file");
        assertTrue(says("\"code\":\"TIMED_OUT\""), Files.readString(file));
    }

    @Test
    void aRankThatContinuesAfterATimeoutWritesNoFile() {
        int entry = group.message("recv from rank 0 tag 7", 100, 10, 0);
        group.failed(entry, 20, Code.TIMED_OUT, new GroupRecorder.Progress(-1, 0, Set.of(0)));
        group.done(group.message("recv from rank 0 tag 7", 100, 30, 0), 40, -1, 100);
        leave();

        assertFalse(Files.exists(file));
    }

    @Test
    void aLaterFailedCallIsInTheNextFile() throws Exception {
        failInAFile();
        int entry = group.submitted(18, "broadcast f32[64] root 0 by binomial", 256, 30);
        group.failed(entry, 40, Code.PEER_LOST, GroupRecorder.Progress.UNKNOWN);
        leave();

        assertTrue(says("\"sequence\":18,"), Files.readString(file));
    }

    @Test
    void aLaterFailedCallIsInTheNextFileWhileAnotherHangs() throws Exception {
        int first = group.submitted(17, "allReduce f32[64] sum by ring", 256, 10);
        group.submitted(18, "broadcast f32[64] root 0 by binomial", 256, 20);
        failInAFile();
        group.failed(first, 40, Code.PEER_LOST, GroupRecorder.Progress.UNKNOWN);
        leave();

        assertTrue(says("\"state\":\"failed\",\"code\":\"PEER_LOST\""), Files.readString(file));
    }

    @Test
    void aLaterEventIsInTheNextFile() throws Exception {
        failInAFile();
        group.event(GroupEvent.of(Kind.FAILED, "world", 1, List.of(0), "told after the file"));
        leave();

        assertTrue(says("told after the file"), Files.readString(file));
    }

    @Test
    void aFileThatCouldNotBeWrittenIsWrittenLater() throws Exception {
        world.broken = new OutOfMemoryError("of this test");
        world.fail(Code.PEER_LOST, Set.of(0), "rank 0 is gone");
        group.groupFailed();
        world.thrown.await();
        leave();

        assertTrue(says("rank 0 is gone"), "the first file failed for lack of memory");
    }

    @Test
    void closingTheLastGroupWritesACompleteFile() throws IOException {
        int entry = group.submitted(17, "allReduce f32[64] sum by ring", 256, 10);
        group.failed(entry, 20, Code.PEER_LOST, GroupRecorder.Progress.UNKNOWN);
        world.fail(Code.PEER_LOST, Set.of(0), "rank 0 is gone");
        leave();

        assertTrue(says("\"state\":\"failed\",\"code\":\"PEER_LOST\""), Files.readString(file));
        try (Stream<Path> left = Files.list(file.getParent())) {
            assertEquals(1, left.count(), "nothing but the record is left");
        }
    }

    @Test
    void eachDumpRequestIsAnsweredOnce() throws Exception {
        Path request = file.resolveSibling("dump.request");
        Files.writeString(request, "1");
        awaitFile("\"reason\":\"request\"");

        Files.delete(file);
        Files.delete(request);
        Files.writeString(request, "2");
        awaitFile("\"reason\":\"request\"");

        leave();
    }

    @Test
    void aRequestFromBeforeTheJoinIsNotAnswered() throws Exception {
        Files.writeString(file.resolveSibling("dump.request"), "of an earlier job");
        awaitFile("\"reason\":\"request\"");
        leave();
        group = FlightRecorder.of(rank, RANK_1_OF_2).enter("world", 1, new int[] {0, 1}, world);
        file = file.resolveSibling("ferro-default.2-rank1.json");

        failInAFile();
        // the writer looks for a request after it has written the failure, and the close waits for the writer
        leave();

        assertTrue(says("\"reason\":\"first failure of group world\""), Files.readString(file));
    }

    @Test
    void aSuccessfulGroupLeavesNoFileAndNoThread() {
        leave();

        assertFalse(Files.exists(file));
        assertTrue(Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().equals("ferro-recorder-1")));
    }

    @Test
    void joiningAgainKeepsTheFileOfTheEarlierGroup() throws IOException {
        world.fail(Code.PEER_LOST, Set.of(0), "rank 0 is gone");
        leave();
        GroupOfTest again = new GroupOfTest();
        group = FlightRecorder.of(rank, RANK_1_OF_2).enter("world", 1, new int[] {0, 1}, again);
        again.fail(Code.ABORTED, Set.of(1), "given up");
        leave();

        assertTrue(says("rank 0 is gone"), Files.readString(file));
        file = file.resolveSibling("ferro-default.2-rank1.json");
        assertTrue(says("given up"), Files.readString(file));
    }

    @Test
    void anErrorWhileWritingDoesNotEndTheWriter() throws InterruptedException {
        world.broken = new OutOfMemoryError("of this test");
        world.fail(Code.PEER_LOST, Set.of(0), "rank 0 is gone");
        group.groupFailed();
        world.thrown.await();
        world.fail(Code.PEER_LOST, Set.of(0, 1), "both are gone");
        group.groupFailed();
        awaitFile("both are gone");

        leave();
    }

    @Test
    void anInterruptedThreadStillWritesACompleteFile() throws InterruptedException {
        world.fail(Code.PEER_LOST, Set.of(0), "rank 0 is gone");
        Thread.currentThread().interrupt();
        leave();

        assertTrue(Thread.interrupted());
        awaitFile("rank 0 is gone");
    }

    @Test
    void aMissingFolderDoesNotFailTheUsersCalls() throws IOException {
        Files.delete(file.getParent());
        Files.writeString(file.getParent(), "in the way");
        world.fail(Code.PEER_LOST, Set.of(0), "rank 0 is gone");
        group.groupFailed();
        leave();

        assertFalse(Files.exists(file));
    }
}
