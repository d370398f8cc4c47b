package ferro.backend.nccl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.backend.nccl.ffi.StandInHooks;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;

/** The gate before tests on two devices, and the lock around them. */
@ExtendWith(StandIn.class)
@ResourceLock("nccl")
class TwoDevicesTest {
    @Test
    @DisplayName("1-37: two devices that can run a kernel open the gate; one device does not")
    void twoDevicesAreNeeded() {
        assertEquals(Optional.empty(), TwoDevices.skipBecause());
        StandInHooks.standInDevices(1);
        String one = TwoDevices.skipBecause().orElseThrow();
        assertTrue(one.contains("needs 2 devices, found 1 devices"), one);
        StandInHooks.standInDevices(-1);
        String none = TwoDevices.skipBecause().orElseThrow();
        assertTrue(none.contains("CUDA error 35"), none);
        assertTrue(none.contains("skipping"), none);
    }

    @Test
    @DisplayName("1-37: a device that is there but runs no kernel is named, with the reason")
    void aDeviceThatRunsNoKernelIsNamed() {
        StandInHooks.standInFailNext("ncclAllReduce", 1, 1);
        String reason = TwoDevices.skipBecause().orElseThrow();
        assertTrue(reason.contains("device 1 cannot run compute kernels"), reason);
        assertTrue(reason.contains("ncclUnhandledCudaError (1)"), reason);
        assertTrue(reason.contains("skipping"), reason);
    }

    @Test
    @DisplayName("1-38: tests on the libraries run one at a time, under a lock that a failed test gives back")
    void testsHaveTheLibrariesForThemselves() {
        assertTrue(StandIn.isMine());
    }
}
