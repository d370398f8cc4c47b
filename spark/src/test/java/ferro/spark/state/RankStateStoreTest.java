package ferro.spark.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.group.JoinOptions;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spark.rank.RestoredState;
import ferro.training.checkpoint.CheckpointStorage;
import ferro.training.checkpoint.StoredObject;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of several attempts of a job with one rank. The attempts share a folder. */
class RankStateStoreTest {
    @TempDir
    private Path folder;

    private SystemContext context;
    private ProcessGroup group;

    @BeforeEach
    void join() {
        context = SystemContext.of(JoinOptions.of(0, 1).serveStore("127.0.0.1", "0"));
        group = context.join();
    }

    @AfterEach
    void close() {
        group.close();
        context.close();
    }

    private HadoopStorage storage() throws IOException {
        return HadoopStorage.at(folder.toUri().toString(), new Configuration());
    }

    private RankStateStore attempt() throws IOException {
        return new RankStateStore(storage(), group);
    }

    private static void save(RankStateStore attempt, int step, String text) throws IOException {
        attempt.save(step, text.getBytes(StandardCharsets.US_ASCII));
    }

    private static String restored(RankStateStore attempt) throws IOException {
        RestoredState state = attempt.restore().orElseThrow();
        return state.step() + ": " + new String(state.state(), StandardCharsets.US_ASCII);
    }

    private List<String> names() throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.map(file -> folder.relativize(file).toString())
                    // skip the checksum files of Hadoop's local file system, and hide the nonce
                    .filter(name -> !name.isEmpty() && !name.matches("(.*/)?[.].*"))
                    .map(name -> name.replaceAll("[0-9a-f]{8}", "x"))
                    .sorted()
                    .toList();
        }
    }

    @Test
    void aLaterAttemptRestoresTheLastSavedState() throws IOException {
        assertTrue(attempt().restore().isEmpty());
        RankStateStore first = attempt();
        save(first, 1, "one");
        save(first, 2, "two");

        RankStateStore second = attempt();

        assertEquals("2: two", restored(second));
        assertThrows(IllegalArgumentException.class, () -> save(second, 2, "again"));
        save(second, 3, "three");
        assertEquals("3: three", restored(attempt()));
    }

    /** The executor of the old attempt still runs, although Spark has given it up. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aRunningAttemptCannotSaveAfterALaterOne(boolean restores) throws IOException {
        RankStateStore old = attempt();
        save(old, 1, "one");
        RankStateStore later = attempt();
        assertTrue(!restores || restored(later).equals("1: one"));
        save(later, 2, "two");

        IOException refusal = assertThrows(IOException.class, () -> save(old, 2, "two of the old attempt"));
        assertTrue(
                refusal.getMessage()
                        .matches(
                                "owner 1-[0-9a-f]{8} [(]host .*[)] cannot save in .*: owner 2-[0-9a-f]{8} [(]host .*, pid "
                                        + ProcessHandle.current().pid()
                                        + "(, job \".*\")?, since 20.*Z[)] saves there now; use a separate folder for each job"),
                refusal.getMessage());
        assertThrows(IOException.class, () -> save(old, 3, "three of the old attempt"));
        assertEquals("2: two", restored(attempt()));
    }

    /** A job that evaluates what another job trains restores only. */
    @Test
    void restoringDoesNotDisturbAJobThatSaves() throws IOException {
        RankStateStore trainer = attempt();
        for (int step = 1; step <= 3; step++) {
            save(trainer, step, "state");
            assertEquals(step + ": state", restored(attempt()));
        }
        assertEquals(
                List.of("latest-1-x.json", "step-2-1-x", "step-2-1-x/rank-0", "step-3-1-x", "step-3-1-x/rank-0"),
                names());
    }

    /** Each save deletes the state two steps before, so the state of step 1 is deleted while the later attempt reads it. */
    @ParameterizedTest
    @CsvSource({"list step-1.*, true", "publish .*, false"})
    void anAttemptThatStartsDuringASaveLosesNothing(String moment, boolean restores) throws IOException {
        RankStateStore old = attempt();
        save(old, 1, "one");
        RankStateStore later = new RankStateStore(
                new OvertakenStorage(storage(), moment, () -> {
                    save(old, 2, "two");
                    save(old, 3, "three");
                }),
                group);

        if (restores) {
            assertEquals("3: three", restored(later));
        }
        save(later, 4, "four");

        assertEquals("4: four", restored(attempt()));
        assertThrows(IOException.class, () -> save(old, 5, "five of the old attempt"));
    }

    /** The folder has objects of an earlier attempt whose save has failed. They use space that the next save needs. */
    @Test
    void filesOfFailedSavesAreDeleted() throws IOException {
        save(attempt(), 1, "one");
        Path left = folder.resolve("step-9-1-0123abcd");
        Files.createDirectories(left);
        Files.write(left.resolve("rank-3"), new byte[9]);
        OvertakenStorage full = new OvertakenStorage(storage(), "write .*", () -> {
            assertTrue(Files.notExists(left), left::toString);
            throw new IOException("No space left on device");
        });
        RankStateStore later = new RankStateStore(full, group);
        assertEquals("1: one", restored(later));

        assertThrows(IOException.class, () -> save(later, 2, "two"));

        assertEquals(List.of("latest-2-x.json", "step-1-1-x", "step-1-1-x/rank-0"), names());
        save(later, 3, "three");
        assertEquals("3: three", restored(attempt()));
    }

    @Test
    void aRankWithoutItsPeersPublishesNothing() throws Exception {
        try (SystemContext first = SystemContext.of(JoinOptions.of(0, 2).serveStore("127.0.0.1", "0"));
                SystemContext second = SystemContext.of(JoinOptions.of(1, 2).storeAt(first.storeEndpoint()))) {
            CompletableFuture<ProcessGroup> other = CompletableFuture.supplyAsync(second::join);
            RankStateStore alone = new RankStateStore(storage(), first.join());
            other.get(30, TimeUnit.SECONDS);
            second.abort(new IllegalStateException("the executor has ended"));

            assertThrows(FerroException.class, () -> save(alone, 1, "one"));
        }
        assertEquals(List.of(), names());
    }

    /** As where the URI names a folder that each host has for itself. */
    @Test
    void stateIsNotSavedInAFolderThatIsNotShared() throws Exception {
        try (SystemContext first = SystemContext.of(JoinOptions.of(0, 2).serveStore("127.0.0.1", "0"));
                SystemContext second = SystemContext.of(JoinOptions.of(1, 2).storeAt(first.storeEndpoint()))) {
            CompletableFuture<ProcessGroup> joining = CompletableFuture.supplyAsync(second::join);
            RankStateStore own = new RankStateStore(storage(), first.join(), Duration.ZERO);
            CheckpointStorage elsewhere =
                    HadoopStorage.at(folder.resolve("elsewhere").toUri().toString(), new Configuration());
            RankStateStore other = new RankStateStore(elsewhere, joining.get(30, TimeUnit.SECONDS), Duration.ZERO);
            CompletableFuture<Void> saving =
                    CompletableFuture.runAsync(() -> assertThrows(FerroException.class, () -> save(other, 1, "one")));

            IOException unseen = assertThrows(IOException.class, () -> save(own, 1, "one"));

            first.abort(unseen);
            saving.get(30, TimeUnit.SECONDS);
            String text = unseen.getMessage();
            assertTrue(
                    text.matches("rank 0 does not see the states of all ranks: is .* a folder that all executors share"
                            + "[?] [(]step-1-1-[0-9a-f]{8}/rank-1 with 11 bytes is missing[)]"),
                    text);
        }
        assertTrue(attempt().restore().isEmpty());
    }

    /** An action that another attempt runs at the same time. */
    private interface Meanwhile {
        void run() throws IOException;
    }

    /** A storage in which something happens just before the first call of a kind. */
    private static final class OvertakenStorage implements CheckpointStorage {
        private final CheckpointStorage storage;
        private final String call;
        private Meanwhile meanwhile;

        OvertakenStorage(CheckpointStorage storage, String call, Meanwhile meanwhile) {
            this.storage = storage;
            this.call = call;
            this.meanwhile = meanwhile;
        }

        private void before(String made) throws IOException {
            if (made.matches(call)) {
                Meanwhile now = meanwhile;
                meanwhile = () -> {};
                now.run();
            }
        }

        @Override
        public void publish(String name, byte[] content) throws IOException {
            before("publish " + name);
            storage.publish(name, content);
        }

        /** Writes the object first, as a file system does that is full at its end. */
        @Override
        public void write(String name, ObjectContent content) throws IOException {
            storage.write(name, content);
            before("write " + name);
        }

        @Override
        public int read(String name, long offset, ByteBuffer into) throws IOException {
            before("read " + name);
            return storage.read(name, offset, into);
        }

        @Override
        public List<StoredObject> list(String prefix) throws IOException {
            before("list " + prefix);
            return storage.list(prefix);
        }

        @Override
        public void delete(String name) throws IOException {
            storage.delete(name);
        }
    }

    @Test
    void theFolderKeepsTheLastTwoSteps() throws IOException {
        RankStateStore first = attempt();
        for (int step = 1; step <= 4; step++) {
            save(first, step, "state");
        }
        assertEquals(
                List.of("latest-1-x.json", "step-3-1-x", "step-3-1-x/rank-0", "step-4-1-x", "step-4-1-x/rank-0"),
                names());

        RankStateStore second = attempt();
        second.restore();
        save(second, 5, "state");

        assertEquals(
                List.of("latest-2-x.json", "step-4-1-x", "step-4-1-x/rank-0", "step-5-2-x", "step-5-2-x/rank-0"),
                names());
    }

    /** An older build, whose attempts published a text, wrote the file. */
    @Test
    void stateOfAnOlderBuildIsRestoredAndContinued() throws IOException {
        RankStateStore first = attempt();
        save(first, 7, "seven");
        String own = "step-7-1-0123abcd";
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path file : all.filter(Files::isRegularFile).toList()) {
                String name = file.getFileName().toString();
                if (name.equals("rank-0")) {
                    Files.createDirectories(folder.resolve(own));
                    Files.move(file, folder.resolve(own).resolve(name));
                } else {
                    Files.delete(file);
                }
            }
        }
        Files.writeString(folder.resolve("latest-1-0123abcd.txt"), own + " 7 1");

        RankStateStore second = attempt();

        assertEquals("7: seven", restored(second));
        save(second, 8, "eight");
        assertEquals("8: eight", restored(attempt()));
    }

    @Test
    void aDamagedNameOfTheLatestStepIsRefused() throws IOException {
        save(attempt(), 1, "one");
        try (Stream<Path> all = Files.list(folder)) {
            for (Path file : all.filter(one -> one.getFileName().toString().contains("latest-"))
                    .toList()) {
                Files.deleteIfExists(folder.resolve("." + file.getFileName() + ".crc"));
                if (!file.getFileName().toString().startsWith(".")) {
                    Files.writeString(file, "step-one");
                }
            }
        }

        IOException damaged = assertThrows(IOException.class, () -> attempt().restore());
        assertTrue(
                damaged.getMessage().matches("latest-1-[0-9a-f]{8}[.]json: invalid JSON at .*"), damaged.getMessage());
    }
}
