package ferro.training.checkpoint;

import static ferro.harness.Says.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.harness.Medium;
import ferro.harness.Ranks;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What some ranks save, any other number loads. */
class SaveAndLoadTest {
    @TempDir
    private Path folder;

    @ParameterizedTest(name = "{0}: {1} ranks save, {2} load")
    @CsvSource({
        "SIMULATED, 1, 1",
        "SIMULATED, 1, 3",
        "SIMULATED, 2, 5",
        "SIMULATED, 4, 1",
        "SIMULATED, 4, 2",
        "SIMULATED, 4, 3",
        "SIMULATED, 8, 7",
        "TCP, 4, 3",
        "SHM, 3, 2"
    })
    void anyNumberOfRanksLoadsWhatAnyOtherSaved(Medium over, int saving, int loading) {
        Ranks.each(over, saving, group -> {
            try (Checkpoints checkpoints = Checkpoints.open(group, LocalStorage.at(folder))) {
                checkpoints.save(12, ToyModel.on(group.rank(), saving).fill(12).state());
            }
        });
        List<CheckpointInfo> loaded = Ranks.run(over, loading, group -> {
            ToyModel model = ToyModel.on(group.rank(), loading);
            try (Checkpoints checkpoints = Checkpoints.open(group, LocalStorage.at(folder))) {
                CheckpointInfo info = checkpoints.load(model.state());
                assertEquals(Optional.of(info), checkpoints.latest());
                model.assertOf(12);
                return info;
            }
        });
        for (CheckpointInfo info : loaded) {
            assertEquals(new CheckpointInfo(12, saving, Map.of("sampler.position", "4711", "text", "\"ü\"\n</")), info);
        }
    }

    @Test
    void anOlderCheckpointIsLoadedByItsStep() {
        SavingJob.each(2, new LocalStorage(folder, call -> {}), (group, model, checkpoints) -> {
            checkpoints.save(1, model.fill(1).state());
            checkpoints.save(2, model.fill(2).state());
            assertEquals(1, checkpoints.load(1, model.state()).step());
            model.assertOf(1);
            assertEquals(2, checkpoints.load(model.state()).step());
            model.assertOf(2);
        });
    }

    @Test
    void withoutSlicesOnlyParametersAreLoaded() {
        SavingJob.each(2, new LocalStorage(folder, call -> {}), (group, model, checkpoints) -> {
            checkpoints.save(3, model.fill(3).state());
            ToyModel other = ToyModel.on(group.rank(), 2);
            checkpoints.load(TrainingState.of(other.parameters));
            model.slices.clear();
            other.slices.clear();
            other.assertOf(3);
        });
    }

    /** As an optimizer that is not sharded has it. */
    @Test
    void stateThatAllRanksHaveIsWrittenOnce() {
        MemoryStorage storage = new MemoryStorage();
        SavingJob.each(3, storage, (group, model, checkpoints) -> {
            checkpoints.save(1, ToyModel.on(0, 1).fill(1).state());
            ToyModel part = ToyModel.on(group.rank(), 3);
            checkpoints.load(part.state());
            part.assertOf(1);
        });
        List<String> names = new ArrayList<>();
        storage.objects.forEach((name, bytes) -> {
            if (name.contains("optimizer")) {
                names.addAll(PlainSafetensors.read(bytes).keySet());
            }
        });
        assertEquals(4, names.size(), names::toString);
        assertEquals(
                3,
                storage.list("step-1").stream()
                        .filter(object -> object.name().contains("/optimizer-"))
                        .count());
    }

    @Test
    void anEmptyFolderHasNoLatestCheckpoint() {
        SavingJob.each(2, new LocalStorage(folder, call -> {}), (group, model, checkpoints) -> {
            assertEquals(Optional.empty(), checkpoints.latest());
            assertRefused(
                    CheckpointException.class,
                    () -> checkpoints.load(model.state()),
                    folder + ": latest.json is missing");
        });
    }

    /** Or a crash would lose it; a loop may ask for it again, as where it ends at a step that it has just saved. */
    @Test
    void theLatestStepIsNotWrittenAgain() {
        MemoryStorage storage = new MemoryStorage();
        SavingJob.each(2, storage, (group, model, checkpoints) -> {
            checkpoints.saveAsync(5, model.fill(5).state());
            checkpoints.save(5, model.fill(6).state());
            checkpoints.load(model.state());
            model.assertOf(5);
            checkpoints.save(
                    5, model.fill(6).state()); // as a job does that was started again when it had made all steps
            checkpoints.load(model.state());
            model.assertOf(5);
        });
        SavingJob.each(2, storage, (group, model, checkpoints) -> {
            checkpoints.save(5, model.fill(6).state()); // another job has a folder of its own
            checkpoints.load(model.state());
            model.assertOf(6);
            checkpoints.save(7, model.fill(7).state());
            checkpoints.load(5, model.state());
            assertRefused(
                    CheckpointException.class,
                    () -> checkpoints.save(7, model.fill(8).state()),
                    "step 7 is already the latest checkpoint");
            checkpoints.load(model.state());
            model.assertOf(7);
        });
    }
}
