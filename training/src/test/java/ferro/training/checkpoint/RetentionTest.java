package ferro.training.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RetentionTest {
    private final MemoryStorage storage = new MemoryStorage();

    private Set<Long> steps() {
        Set<Long> steps = new TreeSet<>();
        storage.objects.keySet().forEach(name -> steps.add(ObjectNames.stepOf(name)));
        steps.remove(-1L);
        return steps;
    }

    @Test
    void onlyTheLastCheckpointsAreKept() {
        SavingJob.each(1, storage, CheckpointSettings.DEFAULT.withKeepLast(3), (group, model, checkpoints) -> {
            for (long step : List.of(5L, 10L, 15L, 100L, 105L)) {
                checkpoints.save(step, model.fill(step).state());
            }
        });
        assertEquals(Set.of(15L, 100L, 105L), steps());
    }

    @Test
    void allCheckpointsAreKeptByDefault() {
        SavingJob.each(2, storage, (group, model, checkpoints) -> {
            for (long step = 0; step < 4; step++) {
                checkpoints.save(step, model.fill(step).state());
            }
        });
        assertEquals(Set.of(0L, 1L, 2L, 3L), steps());
    }

    /** What a crash left is no checkpoint that could be gone back to. */
    @Test
    void anIncompleteCheckpointIsNotCountedAndDeleted() throws IOException {
        SavingJob.each(1, storage, CheckpointSettings.DEFAULT.withKeepLast(2), (group, model, checkpoints) -> {
            checkpoints.save(1, model.fill(1).state());
            storage.write("step-2/model-00001-of-00001.safetensors", to -> {});
            checkpoints.save(3, model.fill(3).state());
        });
        assertEquals(Set.of(1L, 3L), steps());
    }

    /** A job that has gone back to step 2 saves step 3 below steps that it has given up. */
    @Test
    void laterStepsThanThePublishedOneAreKept() {
        SavingJob.each(1, storage, CheckpointSettings.DEFAULT.withKeepLast(2), (group, model, checkpoints) -> {
            checkpoints.save(2, model.fill(2).state());
            checkpoints.save(8, model.fill(8).state());
            assertEquals(2, checkpoints.load(2, model.state()).step());
            checkpoints.save(3, model.fill(3).state());
            assertEquals(3, checkpoints.latest().orElseThrow().step());
            assertEquals(Set.of(2L, 3L, 8L), steps());
            checkpoints.save(8, model.fill(8).state());
            checkpoints.load(model.fill(0).state());
            model.assertOf(8);
        });
        assertEquals(Set.of(3L, 8L), steps());
    }

    @Test
    void filesOfAnEarlierSaveOfTheStepAreDeletedFirst() throws IOException {
        storage.write("step-1/optimizer-00007-of-00009.safetensors", to -> {});
        SavingJob.each(2, storage, (group, model, checkpoints) -> {
            checkpoints.save(1, model.fill(1).state());
        });
        assertTrue(!storage.objects.containsKey("step-1/optimizer-00007-of-00009.safetensors"));
        assertEquals(6, storage.list("step-1").size());
    }

    @Test
    void aStorageWithoutDeleteKeepsAllAndSavesAStepAgain() throws IOException {
        KeepingStorage keeping = new KeepingStorage(storage);
        storage.write("step-1/model-00001-of-00001.safetensors", to -> {});
        SavingJob.each(1, keeping, CheckpointSettings.DEFAULT.withKeepLast(2), (group, model, checkpoints) -> {
            checkpoints.save(1, model.fill(1).state());
            checkpoints.save(2, model.fill(2).state());
            checkpoints.save(3, model.fill(3).state());
            assertEquals(3, checkpoints.latest().orElseThrow().step());
            assertTrue(keeping.list("step-1-").size() > 1);
        });
        assertEquals(
                "cannot delete a: a store that keeps all does not support deletion",
                assertThrows(UnsupportedOperationException.class, () -> keeping.delete("a"))
                        .getMessage());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, -1})
    void fewerThanTwoKeptCheckpointsAreRefused(int count) {
        IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> CheckpointSettings.DEFAULT.withKeepLast(count));
        assertTrue(refused.getMessage().endsWith("found " + count), refused.getMessage());
    }
}
