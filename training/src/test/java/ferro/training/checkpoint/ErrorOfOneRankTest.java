package ferro.training.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.FerroException;
import ferro.HostTensor;
import ferro.harness.Medium;
import ferro.harness.Ranks;
import ferro.training.checkpoint.MessageExchange.ReportingStorage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** An error of one rank, such as lack of memory, ends the call on all ranks at once, over sockets: nobody waits for its deadline. */
class ErrorOfOneRankTest {
    /** Longer than a test waits. */
    private static final CheckpointSettings PATIENT = CheckpointSettings.DEFAULT.withDeadline(Duration.ofHours(1));

    @TempDir
    private Path folder;

    /** A storage whose calls throw an error while it has one. */
    private static final class ErringStorage extends ForwardingStorage {
        private Error error;

        private ErringStorage(CheckpointStorage storage) {
            super(storage);
        }

        @Override
        CheckpointStorage target() {
            if (error != null) {
                throw error;
            }
            return super.target();
        }
    }

    @Test
    void aStorageErrorOfOneRankFailsTheCallOnAllRanks() {
        MemoryStorage memory = new MemoryStorage();
        Ranks.each(Medium.TCP, 3, group -> {
            ErringStorage storage = new ErringStorage(memory);
            ToyModel model = ToyModel.on(group.rank(), 3).fill(1);
            try (Checkpoints checkpoints = Checkpoints.open(group, storage, PATIENT)) {
                storage.error = group.rank() == 1 ? new OutOfMemoryError("no room to write") : null;
                assertReportedBy(
                        1,
                        "OutOfMemoryError: no room to write",
                        storage.error,
                        assertThrows(CheckpointException.class, () -> checkpoints.save(1, model.state())));
                storage.error = null;
                checkpoints.save(2, model.state());
                storage.error = group.rank() == 2 ? new StackOverflowError("read too deep") : null;
                assertReportedBy(
                        2,
                        "StackOverflowError: read too deep",
                        storage.error,
                        assertThrows(CheckpointException.class, () -> checkpoints.load(model.state())));
                storage.error = null;
                assertEquals(2, checkpoints.load(model.state()).step());
            }
        });
    }

    private static void assertReportedBy(int rank, String text, Error own, CheckpointException thrown) {
        assertTrue(thrown.getMessage().contains("rank " + rank + " on host "), thrown.getMessage());
        assertTrue(thrown.getMessage().contains(text), thrown.getMessage());
        assertEquals(own, thrown.getCause());
    }

    /** No array is as long as this parameter, which lies in a file that takes no room. */
    @Test
    @DisabledOnOs(OS.WINDOWS)
    @Tag("long")
    void aCopyErrorOfOneRankFailsTheSaveOnAllRanks() throws Exception {
        ByteBuffer sparse;
        try (FileChannel channel = FileChannel.open(
                folder.resolve("sparse"),
                StandardOpenOption.CREATE_NEW,
                StandardOpenOption.SPARSE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
            sparse = channel.map(MapMode.READ_WRITE, 0, Integer.MAX_VALUE).order(ByteOrder.nativeOrder());
        }
        MemoryStorage memory = new MemoryStorage();
        Ranks.each(Medium.TCP, 2, group -> {
            NamedTensor large = NamedTensor.of("large", HostTensor.of(DataType.UINT8, sparse), Integer.MAX_VALUE);
            ToyModel model = ToyModel.on(group.rank(), 2).fill(1);
            try (Checkpoints checkpoints = Checkpoints.open(group, memory, PATIENT)) {
                checkpoints.saveAsync(1, TrainingState.of(List.of(large)));
                CheckpointException thrown =
                        assertThrows(CheckpointException.class, () -> checkpoints.save(2, model.state()));
                String message = thrown.getMessage();
                assertTrue(message.contains("rank 0 on host "), message);
                assertTrue(message.contains(" could not copy the tensors that it writes: OutOfMemoryError: "), message);
                checkpoints.save(2, model.state());
                assertEquals(2, checkpoints.latest().orElseThrow().step());
            }
        });
    }

    @Test
    void anErrorBetweenTwoExchangesAbortsTheGroup() {
        try (Ranks ranks = Ranks.over(Medium.TCP, 2)) {
            List<Throwable> failures = ranks.failures(group -> {
                MessageExchange messages = new MessageExchange(
                        group, Duration.ofHours(1), new ReportingStorage(new MemoryStorage()), "host");
                messages.together(() -> {
                    if (group.rank() == 1) {
                        throw new OutOfMemoryError("no room to plan");
                    }
                    return messages.exchange("saving", Map::of);
                });
            });
            assertInstanceOf(OutOfMemoryError.class, failures.get(1));
            assertInstanceOf(FerroException.class, failures.get(0));
            assertTrue(failures.get(0).getMessage().contains("no room to plan"), failures::toString);
        }
    }
}
