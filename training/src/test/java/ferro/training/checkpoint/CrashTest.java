package ferro.training.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.group.ProcessGroup;
import ferro.harness.Medium;
import ferro.harness.Ranks;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A crash in a save leaves the checkpoint before it, or the new one, whole: at every call and at every byte. */
class CrashTest {
    private static final CheckpointSettings AT_ONCE =
            CheckpointSettings.DEFAULT.withVisibleWithin(Duration.ZERO).withKeepLast(2);

    /** Logs each old checkpoint that a machine could not delete because it had died. */
    private static final Logger LOGGER = Logger.getLogger("ferro.training");

    @TempDir
    private Path folder;

    @BeforeAll
    static void leaveOutWarnings() {
        LOGGER.setLevel(Level.SEVERE);
    }

    @AfterAll
    static void takeWarnings() {
        LOGGER.setLevel(null);
    }

    /**
     * The machine of all ranks ends within a call of the storage, which has been made or not, or at a byte. Three checkpoints are
     * there, so that the oldest is deleted as well.
     */
    @Tag("long")
    @ParameterizedTest(name = "{0} ranks, at {1}, by {2}")
    @CsvSource({
        "1, the call, 1, 6",
        "1, its end, 1, 6",
        "3, the call, 1, 6",
        "3, its end, 1, 6",
        "1, a byte, 1, 1500",
        "2, a byte, 17, 100"
    })
    void aCrashAtAnyStorageCallLeavesACompleteCheckpoint(int worldSize, String where, int stride, int fewer) {
        DyingStorage dying = new DyingStorage(new MemoryStorage());
        LongConsumer die =
                where.equals("a byte") ? dying::dieAtByte : call -> dying.dieAtCall(call, where.equals("its end"));
        AtomicInteger died = new AtomicInteger();
        Ranks.each(Medium.SIMULATED, worldSize, group -> crashes(group, dying, die, stride, died));
        assertTrue(died.get() > fewer, "died only " + died.get() + " times");
    }

    /** Saves step 3 again and again on top of steps 1 and 2, and dies a little later each time, until a save lives. */
    private static void crashes(
            ProcessGroup group, DyingStorage dying, LongConsumer die, int stride, AtomicInteger died) {
        MemoryStorage before = new MemoryStorage();
        ToyModel model = ToyModel.on(group.rank(), group.worldSize());
        together(group, () -> dying.live(before));
        saveTwo(group, dying, model);
        boolean lived = false;
        for (long at = 0; !lived; at += stride) {
            long now = at;
            MemoryStorage disk = before.copy();
            together(group, () -> {
                dying.live(disk);
                die.accept(now);
            });
            lived = saves(group, model, dying);
            together(group, () -> {
                died.addAndGet(dying.isDead() ? 1 : 0);
                dying.live(disk);
            });
            goOn(group, dying, model, lived);
        }
    }

    /** Returns whether the save ended well, with all files in place. */
    private static boolean saves(ProcessGroup group, ToyModel model, DyingStorage dying) {
        try (Checkpoints checkpoints = Checkpoints.open(group, dying, AT_ONCE)) {
            checkpoints.save(3, model.fill(3).state());
            return !dying.isDead();
        } catch (CheckpointException failure) {
            assertTrue(failure.getMessage().contains("the machine "), failure.getMessage());
            return false;
        }
    }

    /** The job is started again: it finds what it can go on from, and saves step 3 if that is lost. */
    private static void goOn(ProcessGroup group, DyingStorage living, ToyModel model, boolean lived) {
        try (Checkpoints checkpoints = Checkpoints.open(group, living, AT_ONCE)) {
            long loaded = assertComplete(checkpoints, model);
            assertTrue(!lived || loaded == 3, "a save that ended well is not the latest");
            if (loaded == 2) {
                checkpoints.save(3, model.fill(3).state());
                assertEquals(3, assertComplete(checkpoints, model));
            }
        }
    }

    private static long assertComplete(Checkpoints checkpoints, ToyModel model) {
        model.fill(77);
        long step = checkpoints.load(model.state()).step();
        assertTrue(step == 2 || step == 3, "step " + step);
        model.assertOf(step);
        return step;
    }

    /** Rank 0 does something while all others wait. */
    static void together(ProcessGroup group, Runnable once) {
        group.barrier();
        if (group.rank() == 0) {
            once.run();
        }
        group.barrier();
    }

    /** The process ends before each call of the file system: folder, open, write, force, rename, force of the folder, delete. */
    @Test
    void aCrashAtAnyFileSystemCallLeavesACompleteCheckpoint() {
        List<String> calls = new ArrayList<>();
        Ranks.each(Medium.SIMULATED, 1, group -> {
            ToyModel model = ToyModel.on(0, 1);
            boolean lived = false;
            for (int at = 0; !lived; at++) {
                Path root = folder.resolve(at + "/root");
                saveTwo(group, LocalStorage.at(root), model);
                calls.clear();
                int dyingAt = at;
                AtomicBoolean died = new AtomicBoolean();
                Consumer<String> dying = call -> {
                    if (calls.size() == dyingAt) {
                        died.set(true);
                        throw new IllegalStateException("dies before: " + call);
                    }
                    calls.add(OwnNames.shortened(call));
                };
                boolean saved = saves(group, new LocalStorage(root, dying), model);
                lived = !died.get();
                assertEquals(calls.size() >= expected().size(), saved, calls::toString);
                try (Checkpoints checkpoints = Checkpoints.open(group, LocalStorage.at(root), AT_ONCE)) {
                    long loaded = assertComplete(checkpoints, model);
                    // the second one, after that by which the job took the folder
                    boolean isPublished = Collections.frequency(calls, "rename latest.json.tmp") >= 2;
                    assertEquals(isPublished ? 3 : 2, loaded, calls::toString);
                }
            }
        });
        assertEquals(expected(), calls.subList(0, expected().size()));
        assertEquals(
                "delete checkpoint.json",
                calls.get(expected().size() + published().size()),
                "what makes an old checkpoint complete goes first");
    }

    @Test
    void everyCreatedFolderIsForcedInItsParent() {
        List<String> calls = new ArrayList<>();
        LocalStorage.at(folder.resolve("jobs/17/checkpoints"), calls::add);
        List<String> expected = List.of(
                "make jobs",
                "force folder " + folder.getFileName(),
                "make 17",
                "force folder jobs",
                "make checkpoints",
                "force folder 17");
        assertEquals(expected, calls);
        calls.clear();
        LocalStorage.at(folder.resolve("jobs/17/checkpoints"), calls::add);
        assertEquals(List.of(), calls);
    }

    private static void saveTwo(ProcessGroup group, CheckpointStorage storage, ToyModel model) {
        try (Checkpoints checkpoints = Checkpoints.open(group, storage, AT_ONCE)) {
            checkpoints.save(1, model.fill(1).state());
            checkpoints.save(2, model.fill(2).state());
        }
    }

    /** Returns whether the save ended well, which one does that dies while it deletes old checkpoints. */
    private static boolean saves(ProcessGroup group, LocalStorage storage, ToyModel model) {
        try (Checkpoints checkpoints = Checkpoints.open(group, storage, AT_ONCE)) {
            checkpoints.save(3, model.fill(3).state());
            return true;
        } catch (CheckpointException died) {
            assertThrows(IllegalStateException.class, () -> {
                throw died.getCause();
            });
            return false;
        }
    }

    /** The job takes the folder. Then a file is forced before its folder, and all before the one rename. */
    private static List<String> expected() {
        List<String> calls = new ArrayList<>(published());
        calls.addAll(List.of("delete latest.json", "make step-3", "force folder root"));
        for (String file : List.of(
                "model-00001-of-00001.safetensors",
                "optimizer-00001-of-00001.safetensors",
                "model.safetensors.index.json",
                "checkpoint.json")) {
            calls.addAll(List.of("open " + file, "write " + file, "force " + file, "force folder step-3"));
        }
        calls.addAll(published());
        return calls;
    }

    private static List<String> published() {
        return List.of(
                "open latest.json.tmp",
                "write latest.json.tmp",
                "force latest.json.tmp",
                "rename latest.json.tmp",
                "force folder root");
    }
}
