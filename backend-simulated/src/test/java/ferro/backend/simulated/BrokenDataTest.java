package ferro.backend.simulated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Phaser;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Memory of a caller that is no longer what it was when the tensor was made. */
@Timeout(60)
class BrokenDataTest {
    private static final int BYTES = 32;

    @TempDir
    private Path folder;

    @Test
    void aCallThatCannotReadItsTensorFailsAllRanksWithTheReason() throws Exception {
        Map<String, String> settings = Map.of("ferro.timeout", "20s", "ferro.recorder.dir", folder.toString());
        Phaser finished = new Phaser(2);
        SimulatedBackend.run(2, settings, group -> {
            ByteBuffer memory = ByteBuffer.allocateDirect(BYTES).order(ByteOrder.nativeOrder());
            HostTensor data = HostTensor.of(DataType.FLOAT32, memory);
            group.allReduce(data, ReduceOp.SUM);
            // else the failure of one rank might end the first call of the other
            finished.arriveAndAwaitAdvance();
            if (group.rank() == 0) {
                memory.limit(Float.BYTES);
            }
            FerroException failure = assertThrows(FerroException.class, () -> group.allReduce(data, ReduceOp.SUM));
            assertEquals(Code.ABORTED, failure.code());
            assertEquals(Set.of(0), failure.where().culprits());
            assertTrue(failure.getMessage().contains("rank 0 failed with an exception"), failure::getMessage);
            if (group.rank() == 0) {
                assertInstanceOf(IndexOutOfBoundsException.class, failure.getCause());
            }
            assertFailed(group);
        });
        String record = Files.readString(folder.resolve("ferro-default-rank0.json"));
        assertTrue(record.contains("\"state\":\"failed\",\"code\":\"ABORTED\""), record);
    }

    private static void assertFailed(ProcessGroup group) {
        assertEquals(Code.ABORTED, group.failure().orElseThrow().code());
    }
}
