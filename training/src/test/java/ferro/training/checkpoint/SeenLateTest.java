package ferro.training.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Medium;
import ferro.harness.Ranks;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A network file system shows a file of another rank late: the save waits for it. */
class SeenLateTest {
    private static final int POLLS = 3;

    private final MemoryStorage memory = new MemoryStorage();

    /** Shows a file to one rank only after the rank has listed the folder of the step a few times. */
    private static final class LateStorage extends ForwardingStorage {
        private final String late;
        private final AtomicInteger polls = new AtomicInteger();

        private LateStorage(MemoryStorage memory, String late) {
            super(memory);
            this.late = late;
        }

        @Override
        public List<StoredObject> list(String prefix) throws IOException {
            if (prefix.endsWith("/")) {
                polls.incrementAndGet();
            }
            return super.list(prefix);
        }

        @Override
        public int read(String name, long offset, ByteBuffer into) throws IOException {
            if (name.endsWith(late) && polls.get() < POLLS) {
                throw new NoSuchFileException(name);
            }
            return super.read(name, offset, into);
        }
    }

    @ParameterizedTest
    @CsvSource({"0, model-00002-of-00002.safetensors", "1, model.safetensors.index.json"})
    void aFileThatAppearsLateIsWaitedFor(int rank, String file) {
        LateStorage late = new LateStorage(memory, file);

        Ranks.each(Medium.SIMULATED, 2, group -> {
            ToyModel model = ToyModel.on(group.rank(), 2).fill(1);
            try (Checkpoints checkpoints = Checkpoints.open(group, group.rank() == rank ? late : memory)) {
                checkpoints.save(1, model.state());
                assertEquals(1, checkpoints.latest().orElseThrow().step());
            }
        });

        assertTrue(late.polls.get() >= POLLS, "the rank polled " + late.polls + " times");
    }
}
