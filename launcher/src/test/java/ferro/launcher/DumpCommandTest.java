package ferro.launcher;

import static ferro.launcher.Said.assertHas;
import static ferro.launcher.Said.assertStarts;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.OnThread;
import ferro.launcher.output.Screen;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchService;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class DumpCommandTest {
    @TempDir
    private Path folder;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    @Test
    void ranksThatDoNotAnswerAreNamed() throws Exception {
        Files.setLastModifiedTime(answer(1), FileTime.fromMillis(1_000));
        // here before the wait begins: how soon two ranks answer depends on the machine
        for (int rank : List.of(0, 2)) {
            Files.setLastModifiedTime(answer(rank), FileTime.from(Instant.now().plusSeconds(600)));
        }

        int code = execute("dump", "--wait", "100ms", folder.toString());

        assertEquals(1, code, said());
        assertHas(said(), "ranks that answered: [0, 2] of 3");
        assertHas(said(), "ranks that did not answer within 100ms: [1] (stopped, dead");
        assertHas(said(), "now: " + Invocation.ofProcess().line("analyze", folder));
    }

    @Test
    void theDumpEndsAsSoonAsAllRanksHaveAnswered() throws Exception {
        CompletableFuture<Void> ranks = answering(0, 1, 2);

        int code = execute("dump", "--wait", "99999999999m", folder.toString());

        ranks.get(10, TimeUnit.SECONDS);
        assertEquals(0, code, said());
        assertEquals(0, execute("analyze", folder.toString()), said());
        assertHas(said(), "verdict: nothing is wrong in these recordings");
        assertTrue(Files.exists(folder.resolve("ferro-timeline.html")));
    }

    @Test
    void damagedAnswersAreNamedWithTheReason() throws Exception {
        FileTime later = FileTime.from(Instant.now().plusSeconds(600));
        for (int rank = 0; rank < 3; rank++) {
            Files.setLastModifiedTime(rank == 0 ? Files.writeString(file(0), "{\"format\":1,") : answer(rank), later);
        }

        int code = execute("dump", "--wait", "100ms", folder.toString());

        assertEquals(1, code, said());
        assertHas(said(), "ranks that answered: [0, 1, 2] of 3");
        assertHas(said(), "the recording of rank 0 is damaged: it is not valid JSON, or ends too early");
    }

    @Test
    void recordingsOfAnotherJobDoNotAnswerADump() throws Exception {
        FileTime later = FileTime.from(Instant.now().plusSeconds(600));
        Files.setLastModifiedTime(Files.move(answer(0), folder.resolve("ferro-k-rank3.json")), later);
        for (int rank = 0; rank < 3; rank++) {
            Files.setLastModifiedTime(answer(rank), later);
        }

        int code = execute("dump", "--wait", "100ms", folder.toString());

        assertEquals(1, code, said());
        assertHas(said(), "job j: ranks that answered: [0, 1, 2] of 3", "job k: ranks that answered: [3] of 3");
    }

    @Test
    void aTimelineReplacesALinkInsteadOfFollowingIt() throws Exception {
        answer(0);
        Path precious = Files.writeString(folder.resolve("precious"), "mine");
        Files.createSymbolicLink(folder.resolve("ferro-timeline.html"), precious);

        execute("analyze", folder.toString());

        assertEquals("mine", Files.readString(precious));
        assertTrue(Files.size(folder.resolve("ferro-timeline.html")) > 1_000);
    }

    @Test
    void aFolderThatNoRankWritesToIsReported() {
        int code = execute("dump", "--wait", "100ms", folder.toString());

        assertEquals(1, code);
        assertStarts(said(), "no rank has answered within 100ms");
    }

    @Test
    void aBrokenRecordingIsNamedAndTheOthersAreAnalyzed() throws IOException {
        answer(0);
        Files.writeString(file(1), "{\"format\":1,");

        int code = execute("analyze", folder.toString());

        assertEquals(2, code);
        assertHas(said(), "verdict: no call hangs and none has failed, but rank 2 wrote no rec");
        assertHas(said(), " no recording, and the recording of rank 1 is damaged\n");
        assertHas(said(), file(1) + ": it is not valid JSON, or ends too early");
    }

    private CompletableFuture<Void> answering(int... ranks) throws IOException {
        WatchService watch = FileSystems.getDefault().newWatchService();
        folder.register(watch, StandardWatchEventKinds.ENTRY_CREATE);
        return OnThread.run(() -> {
            try (watch) {
                watch.take();
                for (int rank : ranks) {
                    answer(rank);
                }
            }
        });
    }

    private Path answer(int rank) throws IOException {
        Path written = Files.writeString(
                folder.resolve("." + rank),
                "{\"format\":1,\"job\":\"j\",\"rank\":" + rank + ",\"worldSize\":3,\"wallNanos\":5000000000,"
                        + "\"clockNanos\":7,\"groups\":[],\"operations\":[]}");
        return Files.move(written, file(rank), StandardCopyOption.ATOMIC_MOVE);
    }

    private Path file(int rank) {
        return folder.resolve("ferro-j-rank" + rank + ".json");
    }

    private String said() {
        return out.toString(StandardCharsets.UTF_8);
    }

    private int execute(String... arguments) {
        Screen screen = new Screen(out, out);
        PrintStream print = new PrintStream(out, true, StandardCharsets.UTF_8);
        CommandContext world = new CommandContext(Map.of("PATH", "/usr/bin:/bin"), screen, print, Optional.empty());
        return FerroCommand.execute(world, arguments);
    }
}
