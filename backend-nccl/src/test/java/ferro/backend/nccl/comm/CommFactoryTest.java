package ferro.backend.nccl.comm;

import static ferro.harness.Says.assertFails;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException.Code;
import ferro.InvalidRankException;
import ferro.backend.nccl.Callers;
import ferro.backend.nccl.NativeLog;
import ferro.backend.nccl.NcclException;
import ferro.backend.nccl.NcclResult;
import ferro.backend.nccl.ffi.NativeLongs;
import ferro.backend.nccl.ffi.Nccl;
import ferro.backend.nccl.ffi.NcclIdStruct;
import ferro.backend.nccl.ffi.StandIn;
import ferro.backend.nccl.ffi.StandInHooks;
import ferro.backend.nccl.queue.CommIdentity;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.ToIntFunction;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Joining, in the ways that go wrong. */
@ExtendWith(StandIn.class)
@ResourceLock("nccl")
class CommFactoryTest {
    @Test
    @DisplayName("T12: rank, world and device are looked at before anything is made")
    void rankWorldSizeAndDeviceAreCheckedBeforeTheJoin() {
        assertThrows(InvalidRankException.class, () -> new CommIdentity("g", 3, 3, 0));
        assertThrows(InvalidRankException.class, () -> new CommIdentity("g", -1, 3, 0));
        assertThrows(IllegalArgumentException.class, () -> new CommIdentity("g", 0, 0, 0));
        assertThrows(IllegalArgumentException.class, () -> new CommIdentity("g", 0, 1, -2));
    }

    @Test
    @DisplayName("1-29 1-30: where NCCL blocks, a join nobody comes to times out, and what comes too late is freed")
    void aBlockingInitThatReturnsTooLateIsFreed() throws Exception {
        CommFactory factory = Worlds.factory();
        NcclUniqueId id = NcclUniqueId.made();
        CommIdentity identity = new CommIdentity("blocking", 0, 1, 0);
        CountDownLatch release = new CountDownLatch(1);
        ToIntFunction<NativeLongs> blocking = addresses -> {
            assertTrue(Worlds.plenty().awaitQuietly(release::await));
            return Nccl.ncclCommInitRank(addresses.address(0), 1, NcclIdStruct.of(id.toBytes()), 0);
        };
        assertFails(Code.TIMED_OUT, () -> factory.make(List.of(identity), Worlds.millis(100), blocking));
        assertEquals(List.of("ferro-blocking-0-nccl"), Worlds.threads("ferro-blocking-"), "left behind, as NCCL is");
        NativeLog.start();
        release.countDown();
        assertEquals(List.of(), Worlds.lingering("ferro-blocking-"));
        assertEquals(1, NativeLog.count(NativeLog.stop(), "ncclCommAbort"));
        assertEquals(0, StandInHooks.standInLive("comm"));
    }

    @Test
    void aJoinUsesANonBlockingConfiguration() throws Exception {
        NativeLog.start();
        try (Communicator comm = Worlds.alone()) {
            assertEquals(1, NativeLog.count(NativeLog.stop(), "ncclCommInitRankConfig"));
            assertTrue(comm.nonBlocking());
        }
    }

    @Test
    void ranksWithDifferentIdsDoNotJoinEachOther() throws Exception {
        CommFactory factory = Worlds.factory();
        List<NcclUniqueId> ids = List.of(NcclUniqueId.made(), NcclUniqueId.made());
        Callers.manyAtOnce(2, rank -> {
            assertFails(
                    Code.TIMED_OUT,
                    () -> factory.rank(new CommIdentity("ids", rank, 2, rank), ids.get(rank), Worlds.millis(150)));
        });
        assertFalse(Worlds.threads("ferro-ids-").contains("ferro-ids-0-nccl"));
    }

    @Test
    @DisplayName("1-30: an init that NCCL refuses after it began is aborted, and its failure says why")
    void aFailureAfterTheBeginningIsAborted() {
        CommFactory factory = Worlds.factory();
        NcclUniqueId id = NcclUniqueId.made();
        StandInHooks.standInFailNext("ncclCommGetAsyncError", 0, 6);
        NativeLog.start();
        NcclException failure = assertThrows(
                NcclException.class, () -> factory.rank(new CommIdentity("later", 0, 1, 0), id, Worlds.plenty()));
        assertEquals(NcclResult.REMOTE_ERROR, failure.result());
        assertTrue(failure.getMessage().contains("NCCL comm_init_rank failed"), failure.getMessage());
        assertEquals(1, NativeLog.count(NativeLog.stop(), "ncclCommAbort"));
    }
}
