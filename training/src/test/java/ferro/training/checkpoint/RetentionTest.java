package ferro.training.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.group.ProcessGroup;
import ferro.harness.Medium;
import ferro.harness.Ranks;
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

    private static void save(Checkpoints checkpoints, ProcessGroup group, long step) {
        checkpoints.save(
                step, ToyModel.on(group.rank(), group.worldSize()).fill(step).state());
    }

    private Checkpoints keeping(ProcessGroup group, int count) {
        return Checkpoints.open(group, storage, CheckpointSettings.DEFAULT.withKeepLast(count));
    }

    @Test
    void theLastOnesStay() {
        Ranks.each(Medium.SIMULATED, 1, group -> {
            try (Checkpoints checkpoints = keeping(group, 3)) {
                for (long step : List.of(5L, 10L, 15L, 100L, 105L)) {
                    save(checkpoints, group, step);
                }
            }
        });
        assertEquals(Set.of(15L, 100L, 105L), steps());
    }

    @Test
    void allStayWhereNothingElseIsSaid() {
        Ranks.each(Medium.SIMULATED, 2, group -> {
            try (Checkpoints checkpoints = Checkpoints.open(group, storage)) {
                for (long step = 0; step < 4; step++) {
                    save(checkpoints, group, step);
                }
            }
        });
        assertEquals(Set.of(0L, 1L, 2L, 3L), steps());
    }

    /** What a crash left is no checkpoint that could be gone back to. */
    @Test
    void oneThatIsNotCompleteDoesNotCountAndGoes() throws IOException {
        Ranks.each(Medium.SIMULATED, 1, group -> {
            try (Checkpoints checkpoints = keeping(group, 2)) {
                save(checkpoints, group, 1);
                storage.write("step-2/model-00001-of-00001.safetensors", to -> {});
                save(checkpoints, group, 3);
            }
        });
        assertEquals(Set.of(1L, 3L), steps());
    }

    /** A job that has gone back to step 2 saves step 3 below steps that it has given up. */
    @Test
    void laterStepsThanThePublishedOneStay() {
        Ranks.each(Medium.SIMULATED, 1, group -> {
            try (Checkpoints checkpoints = keeping(group, 2)) {
                save(checkpoints, group, 2);
                save(checkpoints, group, 8);
                ToyModel model = ToyModel.on(0, 1);
                assertEquals(2, checkpoints.load(2, model.state()).step());
                save(checkpoints, group, 3);
                assertEquals(3, checkpoints.latest().orElseThrow().step());
                assertEquals(Set.of(2L, 3L, 8L), steps());
                save(checkpoints, group, 8);
                checkpoints.load(model.state());
                model.assertOf(8);
            }
        });
        assertEquals(Set.of(3L, 8L), steps());
    }

    @Test
    void whatASaveOfMoreRanksHasLeftIsDeletedBeforeTheStepIsSavedAgain() throws IOException {
        storage.write("step-1/optimizer-00007-of-00009.safetensors", to -> {});
        Ranks.each(Medium.SIMULATED, 2, group -> {
            try (Checkpoints checkpoints = Checkpoints.open(group, storage)) {
                save(checkpoints, group, 1);
            }
        });
        assertTrue(!storage.objects.containsKey("step-1/optimizer-00007-of-00009.safetensors"));
        assertEquals(6, storage.list("step-1").size());
    }

    @Test
    void aStorageThatDeletesNothingSavesAStepAgainAndKeepsAll() {
        Ranks.each(Medium.SIMULATED, 1, group -> {
            KeepingStorage keeping = new KeepingStorage(storage);
            storage.write("step-1/model-00001-of-00001.safetensors", to -> {});
            CheckpointSettings two = CheckpointSettings.DEFAULT.withKeepLast(2);
            try (Checkpoints checkpoints = Checkpoints.open(group, keeping, two)) {
                save(checkpoints, group, 1);
                save(checkpoints, group, 2);
                save(checkpoints, group, 3);
                assertEquals(3, checkpoints.latest().orElseThrow().step());
                assertTrue(keeping.list("step-1-").size() > 1);
            }
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, -1})
    void atLeastTwoStay(int count) {
        IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> CheckpointSettings.DEFAULT.withKeepLast(count));
        assertTrue(refused.getMessage().endsWith("found " + count), refused.getMessage());
    }
}
