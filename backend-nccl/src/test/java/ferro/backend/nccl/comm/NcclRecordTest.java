package ferro.backend.nccl.comm;

import static ferro.backend.nccl.comm.NcclRanks.SOON;
import static ferro.harness.Says.assertSays;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ferro.Collective;
import ferro.FerroException;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.backend.nccl.ffi.StandIn;
import ferro.backend.nccl.ffi.StandInHooks;
import ferro.backend.nccl.queue.LocalStore;
import ferro.group.SystemContext;
import ferro.recorder.FlightRecorder;
import ferro.spi.GroupSpec;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;

/** What the operations of NCCL leave in the flight recorder of their rank. */
@ExtendWith(StandIn.class)
@ResourceLock("nccl")
class NcclRecordTest {
    @Test
    void callsAreRecordedInTheirOwnGroupBesideThatOfTheHost(@TempDir Path folder) throws Exception {
        SystemContext context = NcclRanks.context(
                0, new LocalStore(), Map.of("ferro.recorder.dir", folder.toString(), "FERRO_JOB_ID", "gpu"));
        GroupSpec group = GroupSpec.of("alone", 0, 1, SOON);
        HostTensor data = HostTensor.of(new float[] {4, 7});
        try (JnaNcclBackend rank = NcclWorld.join(group, context)) {
            rank.run(Collective.allReduce(data, ReduceOp.SUM), SOON);
            StandInHooks.standInHang(1);
            CompletableFuture<Void> failing =
                    whenWaiting(Thread.currentThread(), () -> StandInHooks.standInAsyncError(0, 3));
            assertThrows(FerroException.class, () -> rank.run(Collective.broadcast(data, 0), SOON));
            failing.join();
        }

        String record = Files.readString(folder.resolve("ferro-gpu-rank0.json"));
        assertSays(
                record,
                "{\"name\":\"alone (nccl)\",\"rank\":0,\"ranks\":[0],\"worldSize\":1,"
                        + "\"failure\":{\"code\":\"NATIVE\"",
                "{\"group\":\"alone (nccl)\",\"sequence\":1,\"kind\":\"allReduce\",\"text\":\"allReduce\","
                        + "\"bytes\":8,",
                "\"state\":\"done\"",
                "\"text\":\"broadcast of f32[2], root 0\",\"bytes\":8,",
                "\"state\":\"failed\",\"code\":\"NATIVE\"",
                "\"kind\":\"FAILED\",\"ranks\":");
        String thread = Thread.currentThread().getName();
        assertSays(
                record,
                "\"reason\":\"failure of group alone\",\"thread\":\"" + thread
                        + "\",\"joined\":0,\"group\":\"alone\",\"location\":",
                "\"ferro.backend.nccl.comm.NcclRecordTest.callsAreRecordedInTheirOwnGroup");
        assertEquals(true, context.find(FlightRecorder.class).isEmpty(), "the last group gives its recorder back");
    }

    /** Acts once a thread waits for the end of an operation: only threads that wait are known as callers. */
    private static CompletableFuture<Void> whenWaiting(Thread caller, Runnable action) {
        return CompletableFuture.runAsync(() -> {
            while (caller.getState() != Thread.State.TIMED_WAITING
                    || Arrays.stream(caller.getStackTrace())
                            .noneMatch(frame -> frame.getClassName().endsWith(".WorkLatch"))) {
                LockSupport.parkNanos(1_000_000);
            }
            action.run();
        });
    }
}
