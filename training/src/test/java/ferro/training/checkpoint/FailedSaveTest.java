package ferro.training.checkpoint;

import static ferro.harness.Says.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A save that fails, as on a full disk, deletes what it has written. */
class FailedSaveTest {
    private static final int RANKS = 3;

    private final MemoryStorage memory = new MemoryStorage();

    /** Writes a file whose name begins so, and fails then, as where the last bytes have no room. */
    private static final class FullStorage extends DeletingStorage {
        private final String fullFor;

        private FullStorage(MemoryStorage memory, String fullFor) {
            super(memory);
            this.fullFor = fullFor;
        }

        @Override
        public void write(String name, ObjectContent content) throws IOException {
            super.write(name, content);
            if (OwnNames.shortened(name).startsWith(fullFor)) {
                throw new IOException("No space left on device");
            }
        }

        /** The first one takes the folder, and the second one is that of step 1. */
        @Override
        public void publish(String name, byte[] content) throws IOException {
            boolean isOfStepTwo = new String(content, StandardCharsets.UTF_8).contains("\"step\":2,");
            if (isOfStepTwo && OwnNames.shortened(name).equals(fullFor)) {
                throw new NotPublishedException(new IOException("No space left on device"));
            }
            super.publish(name, content);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "step-2/model-00002",
                "step-2/optimizer-00003",
                "step-2/model.safetensors.index",
                "step-2/checkpoint.json",
                "latest.json"
            })
    void aFailedSaveLeavesNothingAndTheNextSaveWorks(String fullFor) {
        SavingJob.each(RANKS, new FullStorage(memory, fullFor), (group, model, checkpoints) -> {
            checkpoints.save(1, model.fill(1).state());
            TreeSet<String> before = new TreeSet<>(memory.objects.keySet());
            group.barrier();
            assertRefused(
                    CheckpointException.class, () -> checkpoints.save(2, model.state()), "No space left on device");
            group.barrier();
            assertEquals(before, new TreeSet<>(memory.objects.keySet()));
            group.barrier();
            checkpoints.save(3, model.state());
            assertEquals(3, checkpoints.latest().orElseThrow().step());
        });
    }

    /** As where a storage is asked for a folder that it has renamed into, and does not answer. */
    @Test
    void aStepThatMayHaveBeenPublishedIsKept() {
        DeletingStorage unsure = new DeletingStorage(memory) {
            @Override
            public void publish(String name, byte[] content) throws IOException {
                super.publish(name, content);
                if (new String(content, StandardCharsets.UTF_8).contains("\"step\":2,")) {
                    throw new IOException("no answer");
                }
            }
        };
        SavingJob.each(RANKS, unsure, (group, model, checkpoints) -> {
            checkpoints.save(1, model.fill(1).state());
            for (String expected : List.of("no answer", "step 2 is already the latest checkpoint")) {
                assertRefused(
                        CheckpointException.class,
                        () -> checkpoints.save(2, model.fill(2).state()),
                        expected);
            }
            assertEquals(2, checkpoints.load(model.fill(9).state()).step());
            model.assertOf(2);
        });
    }
}
