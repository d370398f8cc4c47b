package ferro.training.checkpoint;

import static ferro.harness.Says.assertSays;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Medium;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Two jobs save in one folder: the later one owns it, and the saves of the earlier one fail. */
class TwoJobsTest {
    @TempDir
    private Path folder;

    private final MemoryStorage memory = new MemoryStorage();

    @ParameterizedTest
    @EnumSource(
            value = Medium.class,
            names = {"SIMULATED", "TCP"})
    void theEarlierJobFailsAtItsNextSaveAndNamesTheLaterJob(Medium over) {
        try (SavingJob first = new SavingJob(over, 2, LocalStorage.at(folder), "host-a");
                SavingJob second = new SavingJob(over, 3, LocalStorage.at(folder), "host-b")) {
            first.save(1);
            assertEquals(1, second.load());
            second.save(2);

            String refusal = first.refusal(3);

            assertTrue(refusal.startsWith("saving step 3 failed: rank 0 on host host-a: "), refusal);
            assertSays(refusal, "host host-b", "pid " + ProcessHandle.current().pid(), folder.toString());
            assertTrue(refusal.matches(".* since 20\\d\\d-\\d\\d-\\d\\dT.*Z.*"), refusal);
            assertEquals(2, second.load());
            assertEquals(2, first.load(), "it may load");
            first.refusal(4);
            second.save(4);
            assertEquals(4, first.load());
        }
    }

    /** The second job makes the steps again that the first one has made since the second one has loaded. */
    @Test
    void theLaterJobSavesAStepThatTheEarlierJobHasJustSaved() {
        try (SavingJob first = new SavingJob(Medium.SIMULATED, 2, memory, "host-a");
                SavingJob second = new SavingJob(Medium.SIMULATED, 3, memory, "host-b")) {
            first.save(1);
            assertEquals(1, second.load());
            first.save(2);
            second.save(2);

            assertSays(first.refusal(3), "host host-b");
            assertEquals(2, first.load());
            second.save(3);
            assertEquals(3, first.load());
        }
    }

    @Test
    void openingAndLoadingDoesNotTakeTheFolder() {
        try (SavingJob trainer = new SavingJob(Medium.SIMULATED, 2, LocalStorage.at(folder), "host-a");
                SavingJob evaluator = new SavingJob(Medium.SIMULATED, 1, LocalStorage.at(folder), "host-b")) {
            for (long step = 1; step <= 3; step++) {
                trainer.save(step);
                assertEquals(step, evaluator.load());
            }
        }
    }

    @Test
    void loadingDuringSavesAlwaysFindsACompleteCheckpoint() throws Exception {
        long steps = 20;
        try (SavingJob trainer = new SavingJob(Medium.SIMULATED, 1, LocalStorage.at(folder), "host-a");
                SavingJob evaluator = new SavingJob(Medium.SIMULATED, 2, LocalStorage.at(folder), "host-b")) {
            trainer.save(1);
            Thread saving = new Thread(() -> {
                for (long step = 2; step <= steps; step++) {
                    trainer.save(step);
                }
            });
            saving.start();
            long loaded = 0;
            while (saving.isAlive()) {
                long next = evaluator.load();
                assertTrue(next >= loaded, "step " + next + " after " + loaded);
                loaded = next;
            }
            saving.join();
            assertEquals(steps, evaluator.load());
        }
    }

    /** The trainer saves two more and deletes what the evaluator has begun to load. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "read step-1.*/checkpoint.json",
                "list step-1.*/",
                "read step-1.*/model.safetensors.index.json",
                "read step-1.*/model-0.*"
            })
    void aLoadWhoseCheckpointIsDeletedLoadsTheNewOne(String call) {
        List<Long> saved = new ArrayList<>();
        try (SavingJob trainer = new SavingJob(Medium.SIMULATED, 2, memory, "host-a")) {
            trainer.save(1);
            Overtaken overtaken = new Overtaken(memory, call, () -> {
                for (long step = 2; step <= 4; step++) {
                    trainer.save(step);
                    saved.add(step);
                }
            });
            try (SavingJob evaluator = new SavingJob(Medium.SIMULATED, 1, overtaken, "host-b")) {
                assertEquals(4, evaluator.load());
            }
        }
        assertEquals(List.of(2L, 3L, 4L), saved, "the storage was not called so: " + call);
    }

    /** A reader that reads a name twice may read the begin of one content and the end of a longer one. */
    @Test
    void aNameThatIsPublishedDuringItsReadIsReadAgain() {
        try (SavingJob trainer = new SavingJob(Medium.SIMULATED, 1, memory, "host-a")) {
            trainer.save(9);
            boolean[] once = {true};
            ForwardingStorage torn = new ForwardingStorage(memory) {
                @Override
                public int read(String name, long offset, ByteBuffer into) throws IOException {
                    int read = super.read(name, offset, into);
                    if (once[0] && name.contains("latest") && offset == 0 && into.capacity() > 1) {
                        once[0] = false;
                        trainer.save(10);
                    }
                    return read;
                }
            };
            try (SavingJob evaluator = new SavingJob(Medium.SIMULATED, 1, torn, "host-b")) {
                long loaded = evaluator.load();
                assertTrue(loaded == 9 || loaded == 10, "step " + loaded);
            }
        }
    }

    /** The second job saves the same step while the first one writes its part, or before it publishes. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "write step-2.*/model-0.*",
                "write step-2.*/optimizer-0.*",
                "write step-2.*/checkpoint.json",
                "publish latest.*"
            })
    void anOvertakenSaveFailsAndLeavesTheStepOfTheSecondJob(String call) {
        List<SavingJob> others = new ArrayList<>();
        List<Long> saved = new ArrayList<>();
        Overtaken overtaken = new Overtaken(memory, call, () -> {
            others.get(0).save(2);
            saved.add(2L);
        });
        Runnable meanwhile = overtaken.withdraw();
        try (SavingJob first = new SavingJob(Medium.SIMULATED, 2, overtaken, "host-a");
                SavingJob second = new SavingJob(Medium.SIMULATED, 3, memory, "host-b");
                SavingJob reader = new SavingJob(Medium.SIMULATED, 1, memory, "host-c")) {
            others.add(second);
            first.save(1);
            overtaken.again(meanwhile);

            String refusal = first.refusal(2);

            assertEquals(List.of(2L), saved, "the storage was not called so: " + call);
            assertSays(refusal, "host host-b");
            if (call.startsWith("write")) {
                assertEquals(List.of(), memory.list("step-2-1-"), "an object that no job finds");
            }
            assertEquals(2, reader.load());
            assertEquals(2, reader.load(2));
            second.save(3);
            assertEquals(3, reader.load());
        }
    }

    @Test
    void aJobThatWasReplacedDeletesNoCheckpointOfTheLaterJob() {
        List<SavingJob> others = new ArrayList<>();
        Overtaken overtaken = new Overtaken(memory, "list ", () -> {
            others.get(0).save(2);
            others.get(0).save(3);
        });
        Runnable meanwhile = overtaken.withdraw();
        try (SavingJob first = new SavingJob(Medium.SIMULATED, 1, overtaken, "host-a");
                SavingJob second = new SavingJob(Medium.SIMULATED, 1, memory, "host-b")) {
            others.add(second);
            first.save(1);
            overtaken.again(meanwhile);
            first.save(5);

            assertEquals(2, second.load(2));
        }
    }

    @Test
    void aFailedSaveDeletesNoFileOfTheSecondJob() {
        List<SavingJob> others = new ArrayList<>();
        Overtaken full = new Overtaken(memory, "write step-2.*/optimizer-0.*", () -> {
            others.get(0).save(2);
            throw new IllegalStateException("No space left on device");
        });
        try (SavingJob first = new SavingJob(Medium.SIMULATED, 1, full, "host-a");
                SavingJob second = new SavingJob(Medium.SIMULATED, 1, memory, "host-b")) {
            others.add(second);
            first.save(1);

            assertSays(first.refusal(2), "host host-b");
            assertEquals(2, second.load());
            assertTrue(memory.objects.keySet().stream().anyMatch(name -> name.startsWith("step-2")));
        }
    }

    /** A job that has gone back to step 1 saves a step again that is complete; its ranks differ. */
    @Test
    void nothingIsDeletedBeforeAllRanksAgree() {
        SavingJob.each(2, memory, (group, model, checkpoints) -> {
            checkpoints.save(1, model.fill(1).state());
            checkpoints.save(2, model.fill(2).state());
            checkpoints.save(3, model.fill(3).state());
            checkpoints.load(1, model.state());
            model.fill(2);
            if (group.rank() == 1) {
                model.parameters.get(1).values().setDouble(3, -0.5);
            }
            assertThrows(CheckpointException.class, () -> checkpoints.save(2, model.state()));
            assertEquals(2, checkpoints.load(2, model.state()).step());
            model.assertOf(2);
        });
    }

    /** The parts that a killed job has left take room that the next job needs. */
    @Test
    void aJobThatTakesTheFolderDeletesFilesOfAKilledJob() throws IOException {
        DyingStorage dying = new DyingStorage(memory);
        try (SavingJob first = new SavingJob(Medium.SIMULATED, 2, dying, "host-a")) {
            first.save(1);
            dying.dieAtByte(700);
            first.failures(2);
            assertTrue(dying.isDead());
        }
        assertTrue(memory.objects.keySet().stream().anyMatch(name -> name.startsWith("step-2")));
        try (SavingJob second =
                new SavingJob(Medium.SIMULATED, 3, new KeepingNothingElse(memory, "step-2"), "host-b")) {
            assertEquals(1, second.load());
            second.save(3);
            assertEquals(3, second.load());
            assertEquals(1, second.load(1));
        }
        assertTrue(memory.objects.keySet().stream().noneMatch(name -> name.startsWith("step-2")));
    }

    /** Refuses to write while objects whose names begin so are there, as a disk does that they fill. */
    private static final class KeepingNothingElse extends DeletingStorage {
        private final MemoryStorage memory;
        private final String filling;

        private KeepingNothingElse(MemoryStorage memory, String filling) {
            super(memory);
            this.memory = memory;
            this.filling = filling;
        }

        @Override
        public void write(String name, ObjectContent content) throws IOException {
            if (memory.objects.keySet().stream().anyMatch(each -> each.startsWith(filling))) {
                throw new IOException("No space left on device");
            }
            super.write(name, content);
        }
    }

    @Test
    void temporaryNamesAreDifferentForEachWriter() throws IOException {
        LocalStorage other = LocalStorage.at(folder);
        byte[] own = {1};
        LocalStorage storage = new LocalStorage(folder, call -> {
            if (call.startsWith("rename ")) {
                assertPublishes(other, new byte[] {2, 2});
            }
        });
        storage.publish("latest.json", own);
        ByteBuffer read = ByteBuffer.allocate(9);
        assertEquals(1, storage.read("latest.json", 0, read));
        assertEquals(1, other.list("").size());
    }

    @Test
    void aFailedPublicationLeavesNoTemporaryFile() throws IOException {
        LocalStorage storage = LocalStorage.at(folder);
        // no rename replaces a folder that has files
        storage.write("taken/file", to -> {});
        assertThrows(IOException.class, () -> storage.publish("taken", new byte[] {1}));
        assertEquals(List.of(new StoredObject("taken/file", 0)), storage.list(""));
    }

    private static void assertPublishes(CheckpointStorage storage, byte[] content) {
        try {
            storage.publish("latest.json", content);
        } catch (IOException failure) {
            throw new AssertionError("cannot publish", failure);
        }
    }
}
