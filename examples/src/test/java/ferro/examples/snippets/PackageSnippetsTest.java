package ferro.examples.snippets;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.DataType;
import ferro.DeviceTensor;
import ferro.ReduceOp;
import ferro.backend.simulated.SimulatedBackend;
import ferro.dispatch.DeviceMemory;
import ferro.dispatch.GpuCollectives;
import ferro.group.Groups;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.tck.HeapDeviceMemory;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PackageSnippetsTest {
    @Test
    void aFreshResultLeavesTheOperandUnchanged() {
        HeapDeviceMemory heap = new HeapDeviceMemory(1);
        try (SystemContext context = SystemContext.of(Map.of("FERRO_ENABLE_GPU_FALLBACK", "1"))) {
            context.shared(DeviceMemory.class, heap::opened);
            try (ProcessGroup group = Groups.of(SimulatedBackend.createGroup(1).get(0), context)) {
                DeviceTensor gradient = heap.allocate(DataType.FLOAT32, new long[] {5}, 0);
                // @start region="dispatch"
                try (GpuCollectives gpu = GpuCollectives.with(context)) {
                    DeviceTensor sum = gpu.allReduce(gradient, ReduceOp.SUM, group.backend());
                    GpuCollectives.free(sum);
                }
                // @end
                GpuCollectives.free(gradient);
            } finally {
                context.release(DeviceMemory.class);
            }
        }
        assertEquals(0, heap.liveTensors());
    }
}
