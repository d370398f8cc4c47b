package ferro.backend.nccl.comm;

import static ferro.backend.nccl.comm.NcclRanks.SOON;
import static ferro.backend.nccl.comm.NcclRanks.sum;
import static ferro.harness.Says.assertFails;
import static ferro.harness.Says.assertRefused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Collective;
import ferro.FerroException;
import ferro.HostTensor;
import ferro.InvalidRankException;
import ferro.ReduceOp;
import ferro.Work;
import ferro.backend.nccl.Callers;
import ferro.backend.nccl.NativeLog;
import ferro.backend.nccl.NcclStreamKind;
import ferro.backend.nccl.ffi.StandIn;
import ferro.backend.nccl.ffi.StandInHooks;
import ferro.backend.nccl.queue.LocalStore;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Whole calls on host slices; the kit has the values of all kinds, types and ops. */
@ExtendWith(StandIn.class)
@ResourceLock("nccl")
class JnaNcclBackendTest {
    @Test
    @DisplayName("2-02 3-22 3-33 3-30: rank 0 makes the id, the others fetch it, and host slices are reduced in place")
    void ranksThatMeetInAStoreReduceHostSlices() {
        try (NcclRanks ranks = NcclRanks.of(2)) {
            ranks.run(rank -> {
                float[] data = {1 + 3 * rank.rank(), 2 + 3 * rank.rank(), 3 + 3 * rank.rank()};
                rank.run(sum(data), SOON);
                assertArrayEquals(new float[] {5, 7, 9}, data);
            });
        }
    }

    @Test
    void everyTimeoutIsAcceptedHoweverLongOrShort() {
        Duration longest = Duration.ofSeconds(Long.MAX_VALUE, 999_999_999);
        Duration shortest = Duration.ofSeconds(Long.MIN_VALUE);
        try (NcclRanks ranks = NcclRanks.of(1)) {
            JnaNcclBackend rank = ranks.rank(0);
            assertTrue(rank.submit(sum(4, 5), longest).await(longest), "ends before a deadline that never comes");
            assertTrue(rank.submit(sum(4, 5), SOON).await(SOON), "ends in time");
            assertFails(FerroException.Code.RENDEZVOUS, () -> new LocalStore().get("nobody sets it", shortest));
            rank.close(shortest);
            assertThrows(IllegalStateException.class, () -> rank.submit(sum(4), SOON), "a call after close");
        }
    }

    @Test
    @DisplayName("2-05 2-19 2-03 3-23 3-28: rank, world size, device and a stream of its own are known from the start")
    void aRankKnowsItsPlaceItsDeviceAndItsStream() {
        try (NcclRanks ranks = NcclRanks.of(3)) {
            ranks.run(rank -> {
                assertEquals(3, rank.worldSize());
                assertEquals(rank.rank(), rank.device());
                assertEquals(NcclStreamKind.OWN, rank.streamKind());
                assertNotEquals(0, rank.stream());
                assertEquals(0, rank.streamDowngrades());
                assertEquals("2.28.9", rank.version().toString());
                assertTrue(rank.asNcclBackend().isPresent());
                rank.synchronize(rank.stream());
            });
            assertEquals(
                    List.of(0, 1, 2),
                    ranks.ends().stream().map(JnaNcclBackend::rank).toList());
            assertFalse(ranks.rank(1).toString().contains("id"), ranks.rank(1).toString());
        }
    }

    @Test
    @DisplayName(
            "decision 8 3-40 T5: reduce leaves the memory of ranks other than the root as it was, input and output")
    void reduceTouchesNothingOffTheRoot() {
        try (NcclRanks ranks = NcclRanks.of(3)) {
            NativeLog.start();
            ranks.run(rank -> {
                float[] in = {rank.rank() + 2, 10 * rank.rank() + 3};
                float[] out = {-77, -77};
                rank.run(Collective.reduce(HostTensor.of(in), HostTensor.of(out), ReduceOp.SUM, 1), SOON);
                assertArrayEquals(new float[] {rank.rank() + 2, 10 * rank.rank() + 3}, in);
                assertArrayEquals(rank.rank() == 1 ? new float[] {9, 39} : new float[] {-77, -77}, out);
            });
            List<NativeLog.Line> lines = NativeLog.stop();
            assertEquals(1, copies(lines, "2"), "only the root copies out: " + lines);
            assertEquals(3, copies(lines, "1"), "every rank copies in: " + lines);
        }
    }

    private static long copies(List<NativeLog.Line> lines, String kind) {
        return NativeLog.of(lines, "cudaMemcpyAsync").stream()
                .filter(line -> line.arguments().get(3).equals(kind))
                .count();
    }

    @Test
    @DisplayName(
            "3-35 3-38 3-39: of a broadcast or scatter only the root uploads, of a gather only the root copies back")
    void onlyTheRanksThatNeedACopyMakeIt() {
        try (NcclRanks ranks = NcclRanks.of(3)) {
            NativeLog.start();
            ranks.run(rank -> {
                float[] data = rank.rank() == 2 ? new float[] {42, 99} : new float[2];
                rank.run(Collective.broadcast(HostTensor.of(data), 2), SOON);
                assertArrayEquals(new float[] {42, 99}, data);
            });
            List<NativeLog.Line> broadcast = NativeLog.stop();
            assertEquals(List.of(1L, 2L), List.of(copies(broadcast, "1"), copies(broadcast, "2")));
            NativeLog.start();
            ranks.run(rank -> {
                float[] all = rank.rank() == 1 ? new float[3] : null;
                HostTensor own = HostTensor.of(new float[] {rank.rank() + 5});
                rank.run(all == null ? Collective.gather(own, 1) : Collective.gather(own, HostTensor.of(all), 1), SOON);
                if (all != null) {
                    assertArrayEquals(new float[] {5, 6, 7}, all);
                }
            });
            List<NativeLog.Line> gather = NativeLog.stop();
            assertEquals(List.of(3L, 1L), List.of(copies(gather, "1"), copies(gather, "2")));
            NativeLog.start();
            ranks.run(rank -> {
                float[] own = new float[1];
                HostTensor part = HostTensor.of(own);
                HostTensor all = HostTensor.of(new float[] {8, 9, 11});
                rank.run(rank.rank() == 0 ? Collective.scatter(all, part, 0) : Collective.scatter(part, 0), SOON);
                assertEquals(List.of(8f, 9f, 11f).get(rank.rank()), own[0]);
            });
            List<NativeLog.Line> scatter = NativeLog.stop();
            assertEquals(List.of(1L, 3L), List.of(copies(scatter, "1"), copies(scatter, "2")));
        }
    }

    @Test
    @DisplayName("3-35 3-36 3-37: a bad root and lengths that do not fit are refused before anything native")
    void whatDoesNotFitIsRefusedBeforeAnythingNative() {
        try (NcclRanks ranks = NcclRanks.of(2)) {
            JnaNcclBackend rank = ranks.rank(0);
            HostTensor two = HostTensor.of(new float[2]);
            HostTensor three = HostTensor.of(new float[3]);
            NativeLog.start();
            InvalidRankException root =
                    assertThrows(InvalidRankException.class, () -> rank.run(Collective.broadcast(two, 5), SOON));
            assertEquals(List.of(5, 2), List.of(root.rank(), root.worldSize()));
            assertThrows(IllegalArgumentException.class, () -> rank.run(Collective.allGather(two, three), SOON));
            assertThrows(
                    IllegalArgumentException.class,
                    () -> rank.run(Collective.reduceScatter(three, two, ReduceOp.SUM), SOON));
            assertRefused(
                    UnsupportedOperationException.class,
                    () -> rank.run(Collective.allGather(two, three, new long[] {2, 1}), SOON),
                    "allGather with counts: leave out the counts");
            assertRefused(
                    UnsupportedOperationException.class,
                    () -> rank.run(Collective.allReduce(two, ReduceOp.BXOR), SOON),
                    "bxor");
            assertEquals(List.of(), NativeLog.stop());
        }
    }

    @Test
    @DisplayName(
            "decision 5 2-21 3-41 T2: a barrier is a reduction of one element, and waits for a rank that is 200 ms late")
    void aBarrierWaitsForALateRank() {
        try (NcclRanks ranks = NcclRanks.of(2)) {
            CountDownLatch looked = new CountDownLatch(1);
            NativeLog.start();
            ranks.run(rank -> {
                if (rank.rank() == 1) {
                    assertTrue(looked.await(10, TimeUnit.SECONDS), "rank 0 has not looked");
                    rank.barrier(SOON);
                    return;
                }
                Work barrier = rank.submit(Collective.barrier(), SOON);
                assertFalse(barrier.await(Duration.ofMillis(200)), "rank 0 did not wait for rank 1");
                looked.countDown();
                barrier.await();
            });
            List<NativeLog.Line> reductions = NativeLog.of(NativeLog.stop(), "ncclAllReduce");
            assertEquals(2, reductions.size());
            assertEquals("1", reductions.get(0).arguments().get(2), "elements of " + reductions);
        }
    }

    @Test
    @DisplayName(
            "3-29 T17: a warm call on host slices allocates and frees nothing natively, and makes no event or stream")
    void aWarmCallAllocatesNothingNatively() {
        try (NcclRanks ranks = NcclRanks.of(2)) {
            ranks.run(rank -> {
                rank.run(sum(new float[1000]), SOON);
                rank.barrier(SOON);
            });
            NativeLog.start();
            ranks.run(rank -> {
                rank.run(sum(new float[1000]), SOON);
                rank.barrier(SOON);
            });
            Set<String> allocating = Set.of(
                    "cudaMalloc",
                    "cudaFree",
                    "cudaHostAlloc",
                    "cudaFreeHost",
                    "cudaEventCreateWithFlags",
                    "cudaEventDestroy",
                    "cudaStreamCreateWithFlags",
                    "cudaStreamDestroy");
            List<String> found = NativeLog.stop().stream()
                    .map(NativeLog.Line::function)
                    .filter(allocating::contains)
                    .toList();
            assertEquals(List.of(), found);
        }
    }

    @Test
    @DisplayName("3-29 T9: host slices above the staging travel in pieces, and arrive whole")
    void slicesAboveTheStagingTravelInPieces() {
        int length = MemberResources.STAGE_BYTES / Float.BYTES * 2 + 4;
        try (NcclRanks ranks = NcclRanks.of(2)) {
            NativeLog.start();
            ranks.run(rank -> {
                float[] data = new float[length];
                for (int i = 0; i < length; i++) {
                    data[i] = i % 1013 + rank.rank() + 1;
                }
                rank.run(sum(data), SOON);
                for (int i = 0; i < length; i++) {
                    if (data[i] != 2 * (i % 1013) + 3) {
                        throw new AssertionError("element " + i + " is " + data[i]);
                    }
                }
                rank.run(Collective.allGather(HostTensor.of(new float[length / 2]), HostTensor.of(data)), SOON);
            });
            List<NativeLog.Line> lines = NativeLog.stop();
            assertEquals(6, NativeLog.count(lines, "ncclAllReduce"), "three pieces on each of two ranks");
            assertEquals(
                    6, NativeLog.count(lines, "ncclAllGather"), "pieces of half the size, since each has two parts");
            for (NativeLog.Line line : NativeLog.of(lines, "cudaMalloc")) {
                assertTrue(Integer.parseInt(line.arguments().get(1)) <= MemberResources.STAGE_BYTES, line::toString);
            }
        }
    }

    @Test
    @DisplayName("decision 4 2-01 3-42: bytes travel by ncclSend and ncclRecv, from heap and direct memory")
    void bytesTravelByWayOfTheDevice() {
        try (NcclRanks ranks = NcclRanks.of(2)) {
            NativeLog.start();
            ranks.run(rank -> {
                ByteBuffer message = rank.rank() == 0 ? ByteBuffer.allocate(12) : ByteBuffer.allocateDirect(12);
                message.position(2).limit(9);
                if (rank.rank() == 0) {
                    for (int i = 2; i < 9; i++) {
                        message.put(i, (byte) (i + 40));
                    }
                    rank.send(message.asReadOnlyBuffer(), 1, 0, SOON);
                    rank.send(message, 1, 0, SOON);
                    assertEquals(9, message.position());
                } else {
                    rank.recv(ByteBuffer.allocate(7), 0, 0, SOON);
                    rank.recv(message, 0, 0, SOON);
                    assertEquals(9, message.position());
                    message.clear();
                    for (int i = 0; i < 12; i++) {
                        assertEquals(i >= 2 && i < 9 ? i + 40 : 0, message.get(i), "byte " + i);
                    }
                }
            });
            List<NativeLog.Line> lines = NativeLog.stop();
            assertEquals(4, NativeLog.count(lines, "ncclSend"), "length and bytes of two messages");
            assertEquals(4, NativeLog.count(lines, "ncclRecv"));
        }
    }

    @Test
    @DisplayName("decision 4 3-42: tags other than 0 and messages to oneself are refused, saying what to use instead")
    void tagsAndMessagesToOneselfAreRefused() {
        try (NcclRanks ranks = NcclRanks.of(2)) {
            ByteBuffer message = ByteBuffer.allocate(4);
            NativeLog.start();
            for (int tag : new int[] {1, -3}) {
                assertRefused(
                        UnsupportedOperationException.class,
                        () -> ranks.rank(0).send(message, 1, tag, SOON),
                        "tag " + tag,
                        "TcpBackend");
            }
            assertRefused(
                    UnsupportedOperationException.class,
                    () -> ranks.rank(0).recv(message, 0, 0, SOON),
                    "itself",
                    "grouped");
            assertThrows(InvalidRankException.class, () -> ranks.rank(0).send(message, 2, 0, SOON));
            assertEquals(List.of(), NativeLog.stop());
        }
    }

    @Test
    @DisplayName(
            "2-22 3-31: close waits for queued work, then finalizes, destroys, and frees its own stream, in that order")
    void closeEndsThingsInOrder() {
        NcclRanks ranks = NcclRanks.of(2);
        float[][] data = {{1, 2}, {3, 4}};
        Work[] queued = new Work[2];
        ranks.run(rank -> queued[rank.rank()] = rank.submit(sum(data[rank.rank()]), SOON));
        NativeLog.start();
        ranks.close();
        List<String> calls = NativeLog.stop().stream()
                .map(NativeLog.Line::function)
                .filter(Set.of("ncclCommFinalize", "ncclCommDestroy", "cudaStreamDestroy")::contains)
                .distinct()
                .toList();
        assertEquals(List.of("ncclCommFinalize", "ncclCommDestroy", "cudaStreamDestroy"), calls);
        for (Work work : queued) {
            assertTrue(work.isDone());
            work.await();
        }
        assertArrayEquals(new float[] {4, 6}, data[0]);
        ranks.rank(0).close();
        assertThrows(IllegalStateException.class, () -> ranks.rank(0).run(sum(1, 2), SOON));
        assertThrows(IllegalStateException.class, () -> ranks.rank(0).synchronize(0));
    }

    @Test
    @DisplayName("decision 3: a world of one is the identity, for every kind")
    void aWorldOfOneIsTheIdentity() {
        try (NcclRanks ranks = NcclRanks.of(1)) {
            JnaNcclBackend alone = ranks.rank(0);
            for (ReduceOp op : List.of(ReduceOp.SUM, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX, ReduceOp.AVG)) {
                float[] data = {1.5f, -2.5f, 3.5f, 0};
                alone.run(Collective.allReduce(HostTensor.of(data), op), SOON);
                assertArrayEquals(new float[] {1.5f, -2.5f, 3.5f, 0}, data, op.name());
            }
            float[] out = new float[2];
            alone.run(Collective.allToAll(HostTensor.of(new float[] {4, 5}), HostTensor.of(out)), SOON);
            assertArrayEquals(new float[] {4, 5}, out);
            alone.barrier(SOON);
        }
    }

    @Test
    @DisplayName("2-04 T1 T6: many threads of a rank may call; no two of them are inside the communicator at once")
    void manyThreadsCallOneRank() throws Exception {
        try (NcclRanks ranks = NcclRanks.of(1)) {
            StandInHooks.standInCallDwell(300);
            Callers.manyAtOnce(8, caller -> {
                for (int turn = 0; turn < 5; turn++) {
                    float[] data = {caller, turn};
                    ranks.rank(0).run(sum(data), SOON);
                    assertTrue(Arrays.equals(new float[] {caller, turn}, data));
                }
            });
            assertEquals(1, StandInHooks.standInMaxEntries());
        }
    }
}
