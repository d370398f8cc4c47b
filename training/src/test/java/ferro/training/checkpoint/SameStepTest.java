package ferro.training.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** If two owners have saved the same step, the checkpoint of the later owner counts. */
class SameStepTest {
    private static final int OF_OLDER = 20;
    private static final int OF_LATER = 21;

    private final MemoryStorage memory = new MemoryStorage();

    /** Names of the two owners of step 2; the older one comes first. */
    @ParameterizedTest
    @CsvSource({
        "'', -1-00000000",
        "-1-ffffffff, -2-00000000",
        "-9-ffffffff, -10-00000000",
        "-2-ffffffff, -2.1-00000000",
        "-2.9-ffffffff, -2.10-00000000",
        "-3-00000009, -3-0000000a"
    })
    void theCheckpointOfTheLaterOwnerIsLoadedAndKept(String older, String later) {
        saveTwice(older, later);

        SavingJob.each(1, memory, CheckpointSettings.DEFAULT.withKeepLast(3), (group, model, checkpoints) -> {
            assertEquals(2, Resume.from(checkpoints, model.state()).step());
            model.assertOf(OF_LATER);

            checkpoints.load(2, model.fill(9).state());
            model.assertOf(OF_LATER);

            checkpoints.save(4, model.state());
        });
        assertEquals(Set.of("step-2" + later), foldersOf("step-2"));
    }

    /** Two jobs save step 2, and the later one saves step 3, which is then damaged. */
    private void saveTwice(String older, String later) {
        SavingJob.each(
                1,
                memory,
                (group, model, checkpoints) ->
                        checkpoints.save(2, model.fill(OF_OLDER).state()));
        SavingJob.each(1, memory, (group, model, checkpoints) -> {
            checkpoints.save(2, model.fill(OF_LATER).state());
            checkpoints.save(3, model.fill(3).state());
        });
        // in two steps, because the new name of an owner may match the pattern of the other
        rename("step-2-1-[^/]+", "older");
        rename("step-2-2-[^/]+", "later");
        rename("older", "step-2" + older);
        rename("later", "step-2" + later);
        // the next owner has a greater number than both
        rename("latest-2-[^/]+", "latest-20-00000000.json");
        memory.objects.keySet().removeIf(name -> name.startsWith("step-3-") && name.contains("/model-0"));
    }

    private void rename(String before, String after) {
        for (String name : Set.copyOf(memory.objects.keySet())) {
            memory.objects.put(name.replaceFirst("^" + before, after), memory.objects.remove(name));
        }
    }

    private Set<String> foldersOf(String step) {
        return memory.objects.keySet().stream()
                .filter(name -> name.startsWith(step))
                .map(ObjectNames::folderOf)
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
