package ferro.backend.nccl.comm;

import static ferro.backend.nccl.comm.NcclRanks.SOON;
import static ferro.harness.Says.assertRefused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import ferro.Collective;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.InvalidRankException;
import ferro.NcclBackend.RawShape;
import ferro.NcclBackend.RootedOp;
import ferro.ReduceOp;
import ferro.Work;
import ferro.backend.nccl.DeviceFloats;
import ferro.backend.nccl.NativeLog;
import ferro.backend.nccl.ffi.Cuda;
import ferro.backend.nccl.ffi.DeviceGuard;
import ferro.backend.nccl.ffi.StandIn;
import ferro.backend.nccl.ffi.StandInHooks;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Whole and raw calls on device memory. */
@ExtendWith(StandIn.class)
@ResourceLock("nccl")
class DeviceCallsTest {
    private static RawShape floats(long count) {
        return new RawShape(count, DataType.FLOAT32);
    }

    private static Collective sum(DeviceFloats data) {
        return Collective.allReduce(data.tensor(), data.tensor(), ReduceOp.SUM);
    }

    @Test
    @DisplayName("T7: a collective starts after what the default stream holds, although its own stream does not block")
    void aCollectiveStartsAfterTheDefaultStream() {
        try (NcclRanks ranks = NcclRanks.of(2)) {
            ranks.run(rank -> {
                try (DeviceFloats data = DeviceFloats.of(rank.device(), -1, -1);
                        DeviceFloats other = DeviceFloats.of(rank.device(), -1, -1);
                        Memory fresh = new Memory(8)) {
                    fresh.write(0, new float[] {rank.rank() + 3, rank.rank() + 8}, 0, 2);
                    // every operation of every stream takes so long: the data comes many operations later
                    StandInHooks.standInStreamLatency(rank.device(), 20_000);
                    for (int before = 0; before < 8; before++) {
                        fill(other.tensor(), fresh);
                    }
                    fill(data.tensor(), fresh);
                    rank.run(sum(data), SOON);
                    StandInHooks.standInStreamLatency(rank.device(), 0);
                    assertArrayEquals(new float[] {7, 17}, data.read());
                }
            });
        }
    }

    private static void fill(DeviceTensor tensor, Memory from) {
        DeviceFloats.queue(tensor, Pointer.nativeValue(from), Cuda.HOST_TO_DEVICE, Cuda.DEFAULT_STREAM);
    }

    @Test
    @DisplayName("2-10 T3: synchronize waits for the default stream too")
    void synchronizeWaitsForTheDefaultStream() {
        try (NcclRanks ranks = NcclRanks.of(1);
                DeviceFloats data = DeviceFloats.of(0, -1, -1);
                Memory fresh = new Memory(8)) {
            fresh.write(0, new float[] {5, 6}, 0, 2);
            StandInHooks.standInStreamLatency(0, 50_000);
            fill(data.tensor(), fresh);
            ranks.rank(0).synchronize(0);
            assertEquals(0, DeviceGuard.call(0, () -> Cuda.cudaStreamQuery(0)), "the default stream still works");
            StandInHooks.standInStreamLatency(0, 0);
        }
    }

    @Test
    @DisplayName(
            "2-13 2-15 2-16 2-17 2-03: raw calls are asynchronous on the stream given, and right after synchronize")
    void rawCallsMoveWhatTheySay() {
        try (NcclRanks ranks = NcclRanks.of(2)) {
            ranks.run(rank -> {
                int me = rank.rank();
                long stream = rank.stream();
                try (DeviceFloats in = DeviceFloats.of(rank.device(), me + 2, me + 5);
                        DeviceFloats out = DeviceFloats.of(rank.device(), -1, -1, -1, -1)) {
                    long from = in.tensor().address();
                    long to = out.tensor().address();
                    rank.waitFor(0, stream);
                    rank.allReduce(from, to, floats(2), ReduceOp.PRODUCT, stream);
                    rank.synchronize(stream);
                    assertArrayEquals(new float[] {6, 30, -1, -1}, out.read());
                    rank.allGather(from, to, floats(2), stream);
                    rank.synchronize(stream);
                    assertArrayEquals(new float[] {2, 5, 3, 6}, out.read());
                    rank.reduceScatter(to, from, floats(2), ReduceOp.MAX, stream);
                    rank.synchronize(stream);
                    assertArrayEquals(me == 0 ? new float[] {2, 5} : new float[] {3, 6}, in.read());
                    rank.broadcast(from, from, floats(2), 1, stream);
                    rank.synchronize(stream);
                    assertArrayEquals(new float[] {3, 6}, in.read());
                }
            });
        }
    }

    @Test
    @DisplayName(
            "2-13: raw reduce, gather, scatter, all-to-all, copy, send and receive; off the root pointers may be 0")
    void theOtherRawCallsToo() {
        try (NcclRanks ranks = NcclRanks.of(2)) {
            ranks.run(rank -> {
                int me = rank.rank();
                long stream = rank.stream();
                try (DeviceFloats in = DeviceFloats.of(rank.device(), me + 2, me + 5);
                        DeviceFloats out = DeviceFloats.of(rank.device(), -1, -1)) {
                    long from = in.tensor().address();
                    long to = out.tensor().address();
                    rank.reduce(from, me == 0 ? to : 0, floats(2), new RootedOp(ReduceOp.SUM, 0), stream);
                    rank.synchronize(stream);
                    assertArrayEquals(me == 0 ? new float[] {5, 11} : new float[] {-1, -1}, out.read());
                    rank.gather(from, me == 1 ? to : 0, floats(1), 1, stream);
                    rank.synchronize(stream);
                    assertArrayEquals(me == 0 ? new float[] {5, 11} : new float[] {2, 3}, out.read());
                    rank.scatter(me == 1 ? to : 0, from, floats(1), 1, stream);
                    rank.synchronize(stream);
                    assertArrayEquals(me == 0 ? new float[] {2, 5} : new float[] {3, 6}, in.read());
                    rank.allToAll(from, to, floats(1), stream);
                    rank.copy(to, from, floats(2), stream);
                    rank.synchronize(stream);
                    assertArrayEquals(me == 0 ? new float[] {2, 3} : new float[] {5, 6}, in.read());
                    if (me == 0) {
                        rank.send(from, floats(2), 1, stream);
                    } else {
                        rank.recv(to, floats(2), 0, stream);
                    }
                    rank.synchronize(stream);
                    assertArrayEquals(new float[] {2, 3}, me == 0 ? in.read() : out.read());
                }
            });
        }
    }

    @Test
    @DisplayName("3-40 T5: a reduction names no output off the root, whatever the caller gave there")
    void aReductionPassesNoOutputOffTheRoot() {
        try (NcclRanks ranks = NcclRanks.of(3)) {
            NativeLog.start();
            ranks.run(rank -> {
                try (DeviceFloats in = DeviceFloats.of(rank.device(), rank.rank() + 2);
                        DeviceFloats out = DeviceFloats.of(rank.device(), -1)) {
                    long to = out.tensor().address();
                    rank.reduce(in.tensor().address(), to, floats(1), new RootedOp(ReduceOp.SUM, 1), rank.stream());
                    rank.synchronize(rank.stream());
                    assertArrayEquals(new float[] {rank.rank() == 1 ? 9 : -1}, out.read());
                }
            });
            List<String> outputs = NativeLog.of(NativeLog.stop(), "ncclReduce").stream()
                    .map(line -> line.arguments().get(1))
                    .toList();
            assertEquals(3, outputs.size());
            assertEquals(2, outputs.stream().filter(DeviceCallsTest::isNull).count(), "outputs " + outputs);
        }
    }

    private static boolean isNull(String address) {
        return address.equals("(nil)") || address.matches("0(x0+)?");
    }

    @Test
    @DisplayName(
            "3-42: a lone thread pairs its sends and receives inside a group, also with itself; one group is opened")
    void aGroupPairsSendsAndReceives() {
        try (NcclRanks ranks = NcclRanks.of(3)) {
            NativeLog.start();
            ranks.run(rank -> {
                int me = rank.rank();
                try (DeviceFloats in = DeviceFloats.of(rank.device(), me + 4);
                        DeviceFloats out = DeviceFloats.of(rank.device(), -1, -1)) {
                    long to = out.tensor().address();
                    rank.grouped(() -> {
                        rank.send(in.tensor().address(), floats(1), (me + 1) % 3, rank.stream());
                        rank.send(in.tensor().address(), floats(1), me, rank.stream());
                        rank.recv(to, floats(1), (me + 2) % 3, rank.stream());
                        rank.recv(to + 4, floats(1), me, rank.stream());
                    });
                    rank.synchronize(rank.stream());
                    assertArrayEquals(new float[] {(me + 2) % 3 + 4, me + 4}, out.read());
                }
            });
            List<NativeLog.Line> lines = NativeLog.stop();
            assertEquals(3, NativeLog.count(lines, "ncclGroupStart"));
            assertEquals(3, NativeLog.count(lines, "ncclGroupEnd"));
        }
    }

    @Test
    @DisplayName("T13: a body of grouped that throws leaves no group open, and its exception arrives as it is")
    void aBodyThatThrowsLeavesNoGroupOpen() {
        try (NcclRanks ranks = NcclRanks.of(1);
                DeviceFloats data = DeviceFloats.of(0, 7)) {
            JnaNcclBackend alone = ranks.rank(0);
            IllegalStateException mine = new IllegalStateException("changed my mind");
            IllegalStateException thrown = assertThrows(
                    IllegalStateException.class,
                    () -> alone.grouped(() -> {
                        throw mine;
                    }));
            assertEquals(mine, thrown);
            assertRefused(
                    IllegalStateException.class,
                    () -> alone.grouped(() -> alone.submit(sum(data), SOON)),
                    "inside grouped");
            alone.run(sum(data), SOON);
            assertArrayEquals(new float[] {7}, data.read());
        }
    }

    @Test
    @DisplayName(
            "2-08 2-13 2-16 2-17: null pointers, negative counts, overflow, bad roots and overlaps are refused natively unseen")
    void rawMisuseIsRefusedBeforeAnythingNative() {
        try (NcclRanks ranks = NcclRanks.of(2);
                DeviceFloats data = DeviceFloats.of(0, 1, 2, 3, 4)) {
            JnaNcclBackend rank = ranks.rank(0);
            long at = data.tensor().address();
            NativeLog.start();
            refused("null pointer", () -> rank.allReduce(0, at, floats(2), ReduceOp.SUM, 0));
            refused("null pointer", () -> rank.allGather(at, 0, floats(1), 0));
            refused("negative: -1", () -> rank.allReduce(at, at, floats(-1), ReduceOp.SUM, 0));
            refused("64 bits", () -> rank.allGather(at, at, floats(Long.MAX_VALUE / 7), 0));
            refused("overlap", () -> rank.allGather(at + 4, at, floats(2), 0));
            refused("overlap", () -> rank.reduceScatter(at, at + 8, floats(2), ReduceOp.SUM, 0));
            refused("overlap", () -> rank.allToAll(at, at, floats(2), 0));
            refused("overlap", () -> rank.copy(at, at + 4, floats(2), 0));
            refused("overlap", () -> rank.allReduce(at, at + 4, floats(2), ReduceOp.SUM, 0));
            assertThrows(InvalidRankException.class, () -> rank.broadcast(at, at, floats(1), 2, 0));
            assertThrows(InvalidRankException.class, () -> rank.send(at, floats(1), -1, 0));
            assertThrows(
                    UnsupportedOperationException.class,
                    () -> rank.allReduce(at, at, new RawShape(1, DataType.INT16), ReduceOp.SUM, 0));
            assertThrows(
                    UnsupportedOperationException.class,
                    () -> rank.allReduce(at, at, new RawShape(1, DataType.INT8), ReduceOp.AVG, 0));
            assertEquals(List.of(), NativeLog.stop());
        }
    }

    private static void refused(String says, Runnable call) {
        assertRefused(IllegalArgumentException.class, call::run, says);
    }

    @Test
    @DisplayName("2-16: in place at the own part of the whole is what NCCL allows, and so does ferro")
    void callsInPlaceAtTheOwnPartWork() {
        try (NcclRanks ranks = NcclRanks.of(2)) {
            ranks.run(rank -> {
                int me = rank.rank();
                try (DeviceFloats all = DeviceFloats.of(rank.device(), me == 0 ? 8 : -1, me == 1 ? 9 : -1)) {
                    rank.run(Collective.allGather(all.tensor().slice(me, 1), all.tensor()), SOON);
                    assertArrayEquals(new float[] {8, 9}, all.read());
                    long at = all.tensor().address();
                    rank.reduceScatter(at, at + 4L * me, floats(1), ReduceOp.SUM, rank.stream());
                    rank.synchronize(rank.stream());
                    assertEquals(me == 0 ? 16 : 18, all.read()[me]);
                }
            });
        }
    }

    @Test
    @DisplayName("0-17: a tensor of another device or without an address is refused before anything native")
    void tensorsThatAreNotHereAreRefused() {
        try (NcclRanks ranks = NcclRanks.of(2);
                DeviceFloats other = DeviceFloats.of(1, 5)) {
            NativeLog.start();
            assertRefused(
                    IllegalStateException.class, () -> ranks.rank(0).run(sum(other), SOON), "device 1", "device 0");
            DeviceTensor nothing = new DeviceTensor(DataType.FLOAT32, new long[] {3}, 0, 0, null);
            assertThrows(
                    IllegalArgumentException.class,
                    () -> ranks.rank(0).run(Collective.allReduce(nothing, ReduceOp.SUM), SOON));
            assertThrows(IllegalArgumentException.class, () -> ranks.rank(0).allocateLike(other.tensor()));
            assertEquals(List.of(), NativeLog.stop());
        }
    }

    @Test
    @DisplayName("0-18 2-13: a submitted call is done when its result may be read, not before its peers have called")
    void aSubmittedCallIsDoneWithItsResult() {
        try (NcclRanks ranks = NcclRanks.of(2);
                DeviceFloats first = DeviceFloats.of(0, 20);
                DeviceFloats second = DeviceFloats.of(1, 30)) {
            StandInHooks.standInStreamLatency(-1, 5_000);
            Work early = ranks.rank(0).submit(sum(first), SOON);
            assertEquals(false, early.await(Duration.ofMillis(30)));
            Work late = ranks.rank(1).submit(sum(second), SOON);
            early.await();
            late.await();
            StandInHooks.standInStreamLatency(-1, 0);
            assertArrayEquals(new float[] {50}, first.read());
            assertArrayEquals(new float[] {50}, second.read());
            assertEquals(List.of(1L, 1L), List.of(early.sequence(), late.sequence()));
        }
    }
}
