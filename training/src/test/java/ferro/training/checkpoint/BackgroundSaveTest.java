package ferro.training.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.ReduceOp;
import ferro.harness.Medium;
import ferro.harness.Ranks;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Saves in the background: training goes on, one save at a time, no failure is lost. */
class BackgroundSaveTest {
    private static final long TIMEOUT_SECONDS = 60;

    /** A storage that publishes when it is let. */
    private static final class SlowStorage extends ForwardingStorage {
        private final CountDownLatch writes = new CountDownLatch(1);
        private volatile boolean fails;

        private SlowStorage(MemoryStorage memory) {
            super(memory);
        }

        @Override
        public void write(String name, ObjectContent content) throws IOException {
            try {
                assertTrue(writes.await(TIMEOUT_SECONDS, TimeUnit.SECONDS), "never let write " + name);
            } catch (InterruptedException interrupted) {
                throw new IOException("interrupted in " + name, interrupted);
            }
            if (fails) {
                throw new IOException("no space left for " + name);
            }
            super.write(name, content);
        }
    }

    private final MemoryStorage memory = new MemoryStorage();
    private final SlowStorage storage = new SlowStorage(memory);

    @Test
    void trainingContinuesWhileACopyIsSaved() {
        SavingJob.each(3, storage, (group, model, checkpoints) -> {
            checkpoints.saveAsync(1, model.fill(1).state());
            model.fill(2);
            float[] sum = {1 + group.rank()};
            group.allReduce(sum, ReduceOp.SUM);
            assertEquals(6, sum[0]);
            checkpoints.check();
            assertFalse(memory.objects.containsKey("latest.json"));
            group.barrier();
            storage.writes.countDown();
            // waits for the first
            checkpoints.saveAsync(2, model.state());
            assertTrue(memory.objects.containsKey("latest.json"));
        });
        SavingJob.each(3, storage, (group, model, checkpoints) -> {
            checkpoints.load(1, model.state());
            model.assertOf(1);
            assertEquals(2, checkpoints.load(model.state()).step());
            model.assertOf(2);
        });
    }

    @Test
    void theNextSaveThrowsTheFailureOfTheOneBefore() {
        storage.fails = true;
        storage.writes.countDown();
        SavingJob.each(2, storage, (group, model, checkpoints) -> {
            checkpoints.saveAsync(1, model.fill(1).state());
            assertNoSpace(assertThrows(CheckpointException.class, () -> checkpoints.saveAsync(2, model.state())));
            group.barrier();
            storage.fails = false;
            group.barrier();
            checkpoints.save(3, model.state());
            assertEquals(3, checkpoints.latest().orElseThrow().step());
        });
    }

    @Test
    void theNextStepThrowsTheFailureOfABackgroundSave() {
        storage.fails = true;
        storage.writes.countDown();
        Ranks.each(Medium.SIMULATED, 2, group -> {
            ToyModel model = ToyModel.on(group.rank(), 2);
            CheckpointException thrown = assertThrows(CheckpointException.class, () -> {
                // what a step has thrown, close does not throw again
                try (Checkpoints checkpoints = Checkpoints.open(group, storage)) {
                    checkpoints.saveAsync(1, model.state());
                    long begun = System.nanoTime();
                    while (System.nanoTime() - begun < TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS)) {
                        checkpoints.check();
                        Thread.yield();
                    }
                }
            });
            assertNoSpace(thrown);
            assertEquals(0, thrown.getSuppressed().length);
        });
    }

    @Test
    void closeThrowsTheFailureOfABackgroundSave() {
        storage.fails = true;
        storage.writes.countDown();
        Ranks.each(Medium.SIMULATED, 2, group -> {
            Checkpoints checkpoints = Checkpoints.open(group, storage);
            checkpoints.saveAsync(1, ToyModel.on(group.rank(), 2).state());
            assertNoSpace(assertThrows(CheckpointException.class, checkpoints::close));
            checkpoints.close();
        });
    }

    @Test
    void closeWaitsAtMostFiveSecondsAfterAFailureOfTheGroup() {
        CyclicBarrier both = new CyclicBarrier(2);
        Ranks.each(Medium.SIMULATED, 2, group -> {
            Checkpoints checkpoints = Checkpoints.open(group, storage);
            checkpoints.saveAsync(1, ToyModel.on(group.rank(), 2).state());
            both.await();
            group.abort(new IllegalStateException("the training has failed"));
            CheckpointException late = assertThrows(CheckpointException.class, checkpoints::close);
            assertTrue(
                    late.getMessage()
                            .startsWith("saving step 1 in the background has not ended within 5 s after the failure of"
                                    + " the group: "),
                    late::getMessage);
        });
        storage.writes.countDown();
    }

    @Test
    void anInterruptedWaitKeepsTheSaveInFlight() {
        storage.fails = true;
        Ranks.each(Medium.SIMULATED, 1, group -> {
            Checkpoints checkpoints = Checkpoints.open(group, storage);
            checkpoints.saveAsync(1, ToyModel.on(0, 1).state());
            Thread.currentThread().interrupt();
            CheckpointException interrupted = assertThrows(CheckpointException.class, checkpoints::latest);
            assertTrue(Thread.interrupted());
            assertTrue(
                    interrupted.getMessage().startsWith("interrupted while saving step 1 "), interrupted::getMessage);
            storage.writes.countDown();
            assertNoSpace(assertThrows(CheckpointException.class, checkpoints::close));
        });
    }

    @Test
    void anInvalidStateIsThrownAtOnceOnAllRanks() {
        SavingJob.each(2, storage, (group, model, checkpoints) -> {
            CheckpointException thrown = assertThrows(
                    CheckpointException.class, () -> checkpoints.saveAsync(1 + group.rank(), model.state()));
            assertEquals("ranks save different steps: rank 0 step 1, rank 1 step 2", thrown.getMessage());
        });
    }

    private static void assertNoSpace(CheckpointException thrown) {
        String message = thrown.getMessage();
        assertTrue(message.startsWith("saving step 1 in the background failed: saving step 1 failed: rank "), message);
        assertTrue(message.contains("no space left for step-1-"), message);
    }
}
