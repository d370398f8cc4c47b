package ferro.training.checkpoint;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.HostTensor;
import ferro.group.ProcessGroup;
import ferro.harness.Medium;
import ferro.harness.Ranks;
import ferro.training.GradientBuckets;
import ferro.training.Parameter;
import ferro.training.optimizer.ShardedOptimizer;
import ferro.training.optimizer.UpdateRule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A training begins, or continues after the newest undamaged checkpoint, by one call. */
class ResumeTest {
    private static final int ELEMENTS = 7;

    @TempDir
    private Path folder;

    @Test
    void aTrainingWithoutACheckpointStartsFromTheBeginning() {
        SavingJob.each(2, LocalStorage.at(folder), (group, model, checkpoints) -> {
            Resume resume = Resume.from(checkpoints, model.fill(5).state(), metadata -> {
                throw new AssertionError("restored " + metadata);
            });
            assertEquals(0, resume.step());
            assertEquals(Optional.empty(), resume.checkpoint());
            assertEquals("generation 0 begins: there is no checkpoint", resume.toString());
            model.assertOf(5);
        });
    }

    @Test
    void aRestartedJobContinuesOnAnotherNumberOfRanks() {
        try (SavingJob saving = new SavingJob(Medium.TCP, 3, LocalStorage.at(folder), "host-a")) {
            saving.save(4);
        }
        try (Ranks ranks = Ranks.over(Medium.TCP, 2, Map.of("FERRO_GENERATION", "1"))) {
            ranks.each(group -> {
                ToyModel model = ToyModel.on(group.rank(), 2);
                List<Map<String, String>> restored = new ArrayList<>();
                try (Checkpoints checkpoints = Checkpoints.open(group, LocalStorage.at(folder))) {
                    Resume resume = Resume.from(checkpoints, model.state(), restored::add);
                    assertEquals(4, resume.step());
                    assertEquals(3, resume.checkpoint().orElseThrow().worldSize());
                    assertEquals(List.of(resume.checkpoint().orElseThrow().metadata()), restored);
                    assertEquals("generation 1 continues after step 4, which 3 ranks saved", resume.toString());
                    model.assertOf(4);
                }
            });
        }
    }

    /** A run of 2 ranks, and one that 3 ranks begin, 2 ranks continue and 2 other ranks end, have 2 ranks in their last steps. */
    @Test
    void theSameNumberOfRanksContinuesWithTheSameBits() {
        trained(Medium.TCP, 3, folder.resolve("a"), 4);
        copy(folder.resolve("a"), folder.resolve("b"));

        float[] undisturbed = trained(Medium.TCP, 2, folder.resolve("a"), 10);
        trained(Medium.TCP, 2, folder.resolve("b"), 7);
        float[] disturbed = trained(Medium.TCP, 2, folder.resolve("b"), 10);

        assertArrayEquals(undisturbed, disturbed);
    }

    /** Trains up to a step, saves there, and returns the parameter. */
    private static float[] trained(Medium over, int worldSize, Path folder, long last) {
        return Ranks.run(over, worldSize, group -> trained(group, folder, last)).get(0);
    }

    private static float[] trained(ProcessGroup group, Path folder, long last) {
        try (GradientBuckets buckets = GradientBuckets.builder(group)
                        .parameters(List.of(Parameter.of("weight", DataType.FLOAT32, ELEMENTS)))
                        .build();
                ShardedOptimizer optimizer =
                        ShardedOptimizer.over(buckets, UpdateRule.adam().withRate(0.1));
                Checkpoints checkpoints = Checkpoints.open(group, LocalStorage.at(folder))) {
            HostTensor weight = optimizer.parameter(0);
            TrainingState state = TrainingState.of(List.of(NamedTensor.of("weight", weight, ELEMENTS)))
                    .withSlices(optimizer.state());
            Resume resume = Resume.from(checkpoints, state, optimizer::restore);
            assertEquals(resume.step(), optimizer.stepCount());
            while (optimizer.stepCount() < last) {
                for (int index = 0; index < ELEMENTS; index++) {
                    float target = index + 2 + group.rank() + optimizer.stepCount() / 3f;
                    buckets.gradient(0).setFloat(index, weight.getFloat(index) - target);
                }
                buckets.ready(0);
                optimizer.step();
            }
            checkpoints.save(last, state.withMetadata(optimizer.settings()));
            float[] end = new float[ELEMENTS];
            for (int index = 0; index < ELEMENTS; index++) {
                end[index] = weight.getFloat(index);
            }
            return end;
        }
    }

    @Test
    void aDamagedCheckpointIsSkipped() throws IOException {
        saveSteps(1, 2, 3);
        damage("step-3-", "model-0");
        damage("step-2-", ObjectNames.MANIFEST);

        assertEquals(1, resumed());

        try (SavingJob next = new SavingJob(Medium.SIMULATED, 2, LocalStorage.at(folder), "host-b")) {
            next.save(2);
        }
        assertEquals(2, resumed(), "the new latest checkpoint");
    }

    /** The storage keeps the checkpoint of the earlier job too, because it deletes nothing. */
    @Test
    void theCheckpointOfTheLaterJobCountsOfTwoOfOneStep() {
        MemoryStorage memory = new MemoryStorage();
        CheckpointStorage keeping = new ForwardingStorage(memory) {
            @Override
            public List<StoredObject> list(String prefix) {
                return memory.list(prefix).stream()
                        .sorted(Comparator.comparing(StoredObject::name))
                        .toList();
            }
        };
        try (SavingJob first = new SavingJob(Medium.SIMULATED, 2, keeping, "host-a");
                SavingJob second = new SavingJob(Medium.SIMULATED, 3, keeping, "host-b")) {
            first.save(1);
            second.load();
            first.save(2);
            second.save(2);
            second.save(3);
        }
        memory.objects.replaceAll((name, bytes) -> name.startsWith("step-3-") ? new byte[3] : bytes);

        List<Integer> savedBy = new ArrayList<>();
        SavingJob.each(1, keeping, (group, model, checkpoints) -> {
            CheckpointInfo loaded =
                    Resume.from(checkpoints, model.state()).checkpoint().orElseThrow();
            assertEquals(2, loaded.step());
            savedBy.add(loaded.worldSize());
        });

        assertEquals(List.of(3), savedBy, "ranks of the second job");
    }

    @Test
    void aCheckpointWithAMissingFileIsSkipped() throws IOException {
        saveSteps(1, 2);
        Files.delete(file("step-2-", "optimizer-0"));

        assertEquals(1, resumed());
    }

    @Test
    void theDamageIsReportedIfEveryCheckpointIsDamaged() throws IOException {
        saveSteps(1);
        damage("step-1-", "model-0");

        AssertionError failure = assertThrows(AssertionError.class, this::resumed);

        assertTrue(failure.getCause() instanceof CheckpointException, failure.toString());
        assertTrue(failure.getMessage().contains("model-0"), failure.getMessage());
    }

    /** An undamaged checkpoint of another model is a mistake, and no reason to load an older one. */
    @Test
    void aCheckpointOfAnotherModelIsRefused() throws IOException {
        saveSteps(1, 2);
        NamedTensor other = ToyModel.tensor("other", DataType.FLOAT32, 3);

        List<Throwable> failures = new ArrayList<>();
        SavingJob.each(1, LocalStorage.at(folder), (group, model, checkpoints) -> {
            failures.add(assertThrows(
                    CheckpointException.class, () -> Resume.from(checkpoints, TrainingState.of(List.of(other)))));
        });
        String text = failures.get(0).getMessage();
        assertTrue(text.startsWith("loading step 2 failed: ") && text.contains("missing: other f32[3]"), text);
    }

    private void saveSteps(long... steps) {
        SavingJob.each(2, LocalStorage.at(folder), (group, model, checkpoints) -> {
            for (long step : steps) {
                checkpoints.save(step, model.fill(step).state());
            }
        });
    }

    private long resumed() {
        return Ranks.run(Medium.SIMULATED, 2, group -> {
                    ToyModel model = ToyModel.on(group.rank(), 2).fill(77);
                    try (Checkpoints checkpoints = Checkpoints.open(group, LocalStorage.at(folder))) {
                        long step = Resume.from(checkpoints, model.state()).step();
                        model.assertOf(step);
                        return step;
                    }
                })
                .get(0);
    }

    private void damage(String step, String name) throws IOException {
        Path file = file(step, name);
        byte[] bytes = Files.readAllBytes(file);
        bytes[bytes.length - 3] ^= 4;
        Files.write(file, bytes);
    }

    private Path file(String step, String name) throws IOException {
        try (var all = Files.walk(folder)) {
            return all.filter(each -> each.getParent().getFileName().toString().startsWith(step))
                    .filter(each -> each.getFileName().toString().startsWith(name))
                    .findFirst()
                    .orElseThrow();
        }
    }

    private static void copy(Path from, Path to) {
        try (var all = Files.walk(from)) {
            for (Path each : all.toList()) {
                Files.copy(each, to.resolve(from.relativize(each).toString()));
            }
        } catch (IOException failure) {
            throw new AssertionError("cannot copy " + from, failure);
        }
    }
}
