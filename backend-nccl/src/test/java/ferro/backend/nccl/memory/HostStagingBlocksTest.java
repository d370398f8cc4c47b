package ferro.backend.nccl.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.backend.nccl.comm.Worlds;
import ferro.backend.nccl.ffi.StandIn;
import ferro.backend.nccl.ffi.StandInHooks;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;

/** The memory that host calls go through. */
@ExtendWith(StandIn.class)
@ResourceLock("nccl")
class HostStagingBlocksTest {
    @Test
    @DisplayName("3-29 T13: a stage that got half of its memory gives it back, and can be asked again")
    void aHalfAllocatedStageIsReleased() {
        try (CudaMemory memory = CudaMemory.open(Worlds.context("20s"));
                HostStagingBlocks stage = new HostStagingBlocks(memory, 0, 1 << 20)) {
            StandInHooks.standInFailNext("cudaMalloc", 1, 2);
            assertThrows(FerroException.class, () -> stage.ensure(1000));
            assertTrue(stage.ensure(1000));
            assertFalse(stage.ensure(1000));
            assertTrue(stage.fromDevice().capacity() >= 1000);
            assertTrue(stage.in() != stage.out());
            assertEquals(2, StandInHooks.standInLive("device"), "blocks");
        }
    }
}
