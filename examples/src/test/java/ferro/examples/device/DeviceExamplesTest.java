package ferro.examples.device;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import ferro.DeviceTensor;
import ferro.backend.simulated.SimulatedBackend;
import ferro.dispatch.DeviceMemory;
import ferro.group.Groups;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.harness.OnThread;
import ferro.tck.HeapDeviceMemory;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * Both device examples over the host fallback, which is enabled. The ranks are simulated, and the devices are those of
 * the contract kit.
 */
class DeviceExamplesTest {
    private final HeapDeviceMemory heap = new HeapDeviceMemory(2);

    private interface Program {
        float[] run(ProcessGroup group, SystemContext context, int elements);
    }

    @Test
    @DisplayName("0-06 0-10: an allocated tensor is added up over the host and stays on its device")
    void tensorsOfFerroAreAddedUp() {
        for (float[] sum : onTwoRanks(DeviceAllReduce::sum)) {
            assertArrayEquals(new float[] {3, 5, 7, 3, 5}, sum);
        }
        assertEquals(0, heap.liveTensors());
    }

    @Test
    @DisplayName("0-06: so is memory of another library")
    void foreignMemoryIsAveraged() {
        for (float[] mean : onTwoRanks(ForeignPointer::mean)) {
            assertArrayEquals(new float[] {5, 6, 7, 8, 9}, mean);
        }
        assertEquals(0, heap.liveTensors());
    }

    @Test
    void aViewKeepsTheOwnerOfForeignMemory() {
        Object owner = new Object();

        DeviceTensor view = ForeignPointer.view(new ForeignPointer.Buffer(0x7000, 1, 12, owner));

        assertSame(owner, view.owner());
        assertEquals(0x7000, view.address());
        assertEquals("f32[12] on device 1", view.toString());
    }

    private List<float[]> onTwoRanks(Program program) {
        List<CompletableFuture<float[]>> ranks = SimulatedBackend.createGroup(2).stream()
                .map(backend -> OnThread.start(() -> rank(backend, program)))
                .toList();
        return ranks.stream().map(OnThread::result).toList();
    }

    private float[] rank(SimulatedBackend backend, Program program) {
        Map<String, String> settings = Map.of("FERRO_ENABLE_GPU_FALLBACK", "1", "LOCAL_RANK", "" + backend.rank());
        try (SystemContext context = SystemContext.of(settings)) {
            context.shared(DeviceMemory.class, heap::opened);
            try (ProcessGroup group = Groups.of(backend, context)) {
                return program.run(group, context, 5);
            } finally {
                context.release(DeviceMemory.class);
            }
        }
    }
}
