package ferro.training.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.training.TrainingRanks;
import ferro.training.TrainingRanks.Over;
import java.io.IOException;
import java.util.TreeSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A save that fails, as on a full disk, deletes what it has written. */
class FailedSaveTest {
    private static final int RANKS = 3;

    private final MemoryStorage memory = new MemoryStorage();

    /** Writes a file whose name begins so, and fails then, as where the last bytes have no room. */
    private static final class FullStorage extends ForwardingStorage {
        private final MemoryStorage memory;
        private final String noRoomFor;

        private FullStorage(MemoryStorage memory, String noRoomFor) {
            this.memory = memory;
            this.noRoomFor = noRoomFor;
        }

        @Override
        CheckpointStorage target() {
            return memory;
        }

        @Override
        public void write(String name, ObjectContent content) throws IOException {
            super.write(name, content);
            if (OwnNames.shortened(name).startsWith(noRoomFor)) {
                throw new IOException("No space left on device");
            }
        }

        @Override
        public void delete(String name) {
            memory.delete(name);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "step-2/model-00002",
                "step-2/optimizer-00003",
                "step-2/model.safetensors.index",
                "step-2/checkpoint.json"
            })
    void leavesNothingAndTheNextSaveWorks(String noRoomFor) {
        TrainingRanks.run(Over.SIMULATED, RANKS, group -> {
            ToyModel model = ToyModel.on(group.rank(), RANKS).fill(1);
            try (Checkpoints checkpoints = Checkpoints.open(group, new FullStorage(memory, noRoomFor))) {
                checkpoints.save(1, model.state());
                TreeSet<String> before = new TreeSet<>(memory.objects.keySet());
                group.barrier();
                CheckpointException failure =
                        assertThrows(CheckpointException.class, () -> checkpoints.save(2, model.state()));
                assertTrue(failure.getMessage().contains("No space left on device"), failure.getMessage());
                group.barrier();
                assertEquals(before, new TreeSet<>(memory.objects.keySet()));
                group.barrier();
                checkpoints.save(3, model.state());
                assertEquals(3, checkpoints.latest().orElseThrow().step());
            }
            return null;
        });
    }
}
