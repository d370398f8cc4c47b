package ferro.backend.nccl.comm;

import ferro.backend.nccl.ffi.StandIn;
import ferro.backend.nccl.ffi.StandInHooks;
import ferro.backend.nccl.memory.CudaMemory;
import ferro.dispatch.DeviceMemory;
import ferro.group.SystemContext;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** The shared contract on tensors of the devices, from device to device. */
class NcclDeviceContractTest extends NcclContract {
    private DeviceMemory memory;

    @BeforeEach
    void openMemory() {
        StandInHooks.standInDevices(MOST_RANKS);
        memory = CudaMemory.open(SystemContext.of(StandIn.settings()));
    }

    @AfterEach
    void closeMemory() {
        memory.close();
    }

    /** All other rules have host tensors, and {@link NcclContractTest} runs them. */
    @Override
    protected boolean runs(int rule) {
        return ON_DEVICES.contains(rule);
    }

    /** {@link NcclContractTest} runs all types and ops with the same library. */
    @Override
    public boolean runsSelection() {
        return true;
    }

    /** NCCL takes operands whole; the same lengths as on other back ends are taken from the host's memory. */
    @Override
    public int segmentBytes() {
        return 64 << 10;
    }

    @Override
    protected Optional<DeviceMemory> deviceMemory() {
        return Optional.of(memory);
    }
}
