package ferro.dispatch;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.atLeast;
import static org.mockito.Mockito.doReturn;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.inOrder;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.verifyNoMoreInteractions;
import static org.mockito.Mockito.when;

import ferro.Backend;
import ferro.CallOptions;
import ferro.Collective;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.InvalidRankException;
import ferro.Message;
import ferro.NcclBackend;
import ferro.NcclBackend.RawShape;
import ferro.ReduceOp;
import ferro.spi.TestContext;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.mockito.InOrder;

/** The device path, over a mocked NCCL view; the gate is open in all of these, and nobody may look through it. */
class GpuCollectivesOverNcclTest {
    private final HeapDevice memory = new HeapDevice();
    private final TestContext context = new TestContext().with("ferro.gpu.fallback", "1");
    private final TestLog log = new TestLog();
    private final FakeFallback fallback = new FakeFallback(memory);
    private final GpuCollectives gpu = GpuCollectives.with(context, () -> Optional.of(fallback), log);
    private final NcclBackend nccl = MockNccl.of(memory, 0, 1);
    private final NcclBackend second = MockNccl.of(memory, 1, 2);

    @Test
    @DisplayName(
            "gpu_allreduce_dispatches_to_nccl_in_single_rank_mode; 0-03 0-18 0-19 REQ-2: fresh, same shape, all of it NCCL's")
    void allReduceOfOneRankReachesNcclWhichWritesTheResult() {
        DeviceTensor in = memory.tensor(new long[] {4}, 1.5f, -2.5f, 3.5f, 0f);

        DeviceTensor out = gpu.allReduce(in, ReduceOp.SUM, nccl);

        assertArrayEquals(new float[] {-0.5f, 3.5f, -2.5f, 1f}, memory.floats(out));
        assertArrayEquals(new float[] {1.5f, -2.5f, 3.5f, 0f}, memory.floats(in));
        assertArrayEquals(new long[] {4}, out.shape());
        assertEquals(in.device(), out.device());
        assertNotEquals(in.address(), out.address());
        verify(nccl).run(Collective.allReduce(in, out, ReduceOp.SUM), CallOptions.of(Duration.ofSeconds(9)));
    }

    @Test
    @DisplayName(
            "gpu_broadcast_dispatches_to_nccl_in_single_rank_mode; 0-04 T7: the root's copy is queued before the call")
    void broadcastOfOneRankReachesNcclBehindTheCopyOfTheRoot() {
        DeviceTensor in = memory.tensor(new long[] {3}, 42f, 99f, -7.5f);

        DeviceTensor out = gpu.broadcast(in, 0, nccl);

        assertArrayEquals(new float[] {42f, 99f, -7.5f}, memory.floats(out), 1e-6f);
        assertArrayEquals(new long[] {3}, out.shape());
        InOrder order = inOrder(nccl);
        order.verify(nccl).waitFor(0, MockNccl.STREAM);
        order.verify(nccl).copy(in.address(), out.address(), new RawShape(3, DataType.FLOAT32), MockNccl.STREAM);
        order.verify(nccl).run(Collective.broadcast(out, 0), CallOptions.of(Duration.ofSeconds(9)));
    }

    @Test
    @DisplayName("0-21 0-22: off the root a broadcast allocates and copies nothing")
    void offTheRootABroadcastOnlyAllocates() {
        DeviceTensor template = new DeviceTensor(DataType.FLOAT32, new long[] {2, 3}, 0, 0, null);

        DeviceTensor out = gpu.broadcast(template, 0, second);

        assertArrayEquals(new long[] {2, 3}, out.shape());
        verify(second, never()).copy(anyLong(), anyLong(), any(), anyLong());
        verify(second).run(Collective.broadcast(out, 0), CallOptions.of(Duration.ofSeconds(9)));
    }

    @Test
    @DisplayName("0-16: the input is untouched by every fresh form")
    void noFreshFormTouchesItsInput() {
        DeviceTensor in = memory.tensor(new long[] {2}, 3f, 5f);

        gpu.allReduce(in, ReduceOp.MAX, nccl);
        gpu.broadcast(in, 0, nccl);
        gpu.reduce(in, ReduceOp.SUM, 0, nccl);
        gpu.allGather(in, nccl);
        gpu.reduceScatter(in, ReduceOp.SUM, nccl);
        gpu.gather(in, 0, nccl);
        gpu.scatter(in, 0, nccl);
        gpu.allToAll(in, nccl);

        assertArrayEquals(new float[] {3f, 5f}, memory.floats(in));
        assertEquals(9, memory.live());
    }

    @Test
    @DisplayName(
            "test_gpu_allreduce_preserves_shape over the mocked NCCL; results have the shape that their kind gives")
    void everyKindGivesItsShape() {
        DeviceTensor in = memory.tensor(new long[] {2, 3}, 1, 2, 3, 4, 5, 6);

        assertArrayEquals(
                new long[] {2, 3}, gpu.allReduce(in, ReduceOp.SUM, second).shape());
        assertArrayEquals(new long[] {4, 3}, gpu.allGather(in, second).shape());
        assertArrayEquals(
                new long[] {1, 3}, gpu.reduceScatter(in, ReduceOp.SUM, second).shape());
        assertArrayEquals(new long[] {1, 3}, gpu.scatter(in, 1, second).shape());
        assertArrayEquals(new long[] {2, 3}, gpu.allToAll(in, second).shape());
        assertArrayEquals(
                new long[] {4, 3}, gpu.gather(in, 1, second).orElseThrow().shape());
        assertArrayEquals(
                new long[] {2, 3},
                gpu.reduce(in, ReduceOp.SUM, 1, second).orElseThrow().shape());
        DeviceTensor odd = memory.tensor(new long[] {3, 2}, 1, 2, 3, 4, 5, 6);
        assertArrayEquals(new long[] {3}, gpu.scatter(odd, 1, second).shape());
        DeviceTensor scalar = memory.tensor(new long[] {}, 8);
        assertArrayEquals(new long[] {2}, gpu.allGather(scalar, second).shape());
    }

    @Test
    void reduceAndGatherReturnNothingOffTheRootAndAllocateNothing() {
        DeviceTensor in = memory.tensor(new long[] {1}, 3f);

        assertEquals(Optional.empty(), gpu.reduce(in, ReduceOp.SUM, 0, second));
        assertEquals(Optional.empty(), gpu.gather(in, 0, second));
        assertNull(gpu.reduceAsync(in, ReduceOp.SUM, 0, second).tensor());
        assertNull(gpu.gatherAsync(in, 0, second).await());

        assertEquals(1, memory.live());
        verify(second).run(Collective.reduce(in, ReduceOp.SUM, 0), CallOptions.of(Duration.ofSeconds(9)));
        verify(second).run(Collective.gather(in, 0), CallOptions.of(Duration.ofSeconds(9)));
    }

    @Test
    @DisplayName("0-14 0-13 decision 9: what NCCL does not take has cost nothing")
    void aTypeThatNcclRefusesCostsNothing() {
        DeviceTensor in = new DeviceTensor(DataType.INT16, new long[] {2}, 64, 0, null);
        when(nccl.unsupportedBecause(any())).thenReturn(Optional.of("i16 is no type of NCCL: f16 f32 f64 i32 are"));

        String text = assertThrows(UnsupportedOperationException.class, () -> gpu.allReduce(in, ReduceOp.SUM, nccl))
                .getMessage();

        assertTrue(text.contains("allReduce") && text.contains("i16 is no type of NCCL"), text);
        assertCostNothing(nccl);
    }

    @Test
    @DisplayName("0-20 0-28 0-27 decision 2: the root is checked first, against the world size of the NCCL view")
    void theRootIsCheckedFirstAgainstTheWorldSizeOfTheView() {
        NcclBackend view = MockNccl.of(memory, 0, 2);
        Backend outer = mock(Backend.class);
        when(outer.asNcclBackend()).thenReturn(Optional.of(view));
        when(outer.worldSize()).thenReturn(64);
        when(view.unsupportedBecause(any())).thenReturn(Optional.of("the type is bad too"));
        DeviceTensor in = memory.tensor(new long[] {1}, 3f);

        for (int root : new int[] {5, 2, -1}) {
            assertEquals(2, invalidRank(root, () -> gpu.broadcast(in, root, outer)));
            assertEquals(2, invalidRank(root, () -> gpu.reduce(in, ReduceOp.SUM, root, outer)));
            assertEquals(2, invalidRank(root, () -> gpu.gather(in, root, outer)));
            assertEquals(2, invalidRank(root, () -> gpu.scatter(in, root, outer)));
            Collective call = Collective.broadcast(in, root);
            assertEquals(2, invalidRank(root, () -> gpu.run(call, outer, Duration.ofSeconds(1))));
        }
        assertCostNothing(view);
    }

    @Test
    @DisplayName("0-14: a shape that does not fit has cost nothing")
    void aWrongShapeCostsNothing() {
        DeviceTensor three = memory.tensor(new long[] {3}, 1, 2, 3);

        assertThrows(IllegalArgumentException.class, () -> gpu.allToAll(three, second));
        assertThrows(IllegalArgumentException.class, () -> gpu.scatter(three, 0, second));
        assertThrows(IllegalArgumentException.class, () -> gpu.reduceScatter(three, ReduceOp.SUM, second));

        assertCostNothing(second);
    }

    @Test
    @DisplayName("0-14 decision 9: where type and shape are both bad, the type is told")
    void theTypeIsRefusedBeforeTheShape() {
        when(second.unsupportedBecause(any())).thenReturn(Optional.of("no such type"));
        DeviceTensor three = memory.tensor(new long[] {3}, 1, 2, 3);

        assertThrows(UnsupportedOperationException.class, () -> gpu.allToAll(three, second));

        assertCostNothing(second);
    }

    @Test
    @DisplayName("0-17: a tensor of another device than the communicator's is refused, nothing migrates")
    void aTensorOfAnotherDeviceIsRefused() {
        DeviceTensor elsewhere = new DeviceTensor(DataType.FLOAT32, new long[] {2}, 64, 3, null);

        IllegalStateException failure =
                assertThrows(IllegalStateException.class, () -> gpu.allReduce(elsewhere, ReduceOp.SUM, nccl));

        assertTrue(failure.getMessage().contains("device 3"), failure.getMessage());
        assertTrue(failure.getMessage().contains("device 0"), failure.getMessage());
        assertCostNothing(nccl);
    }

    @Test
    @DisplayName(
            "0-16 REQ-5: no memory for the fresh tensor is an invalid argument with op, D2D clone failed and cause")
    void noMemoryForTheFreshTensorIsD2dCloneFailed() {
        DeviceTensor in = memory.tensor(new long[] {2}, 3f, 5f);
        memory.exhaust();

        IllegalArgumentException failure =
                assertThrows(IllegalArgumentException.class, () -> gpu.allReduce(in, ReduceOp.SUM, nccl));

        assertTrue(failure.getMessage().contains("allReduce"), failure.getMessage());
        assertTrue(failure.getMessage().contains("D2D clone failed"), failure.getMessage());
        assertTrue(failure.getMessage().contains("out of memory"), failure.getMessage());
        assertEquals(Code.RESOURCE, ((FerroException) failure.getCause()).code());
        verify(nccl, never()).run(any(), any(CallOptions.class));
    }

    @Test
    @DisplayName("0-16: a failed copy of the root's data is D2D clone failed, and the fresh tensor is freed")
    void aFailedCopyIsD2dCloneFailedAndFreesTheFreshTensor() {
        DeviceTensor in = memory.tensor(new long[] {2}, 3f, 5f);
        FerroException cause = new FerroException(Code.NATIVE, Where.of("", 0), "cudaMemcpyAsync failed: 700");
        doThrow(cause).when(nccl).copy(anyLong(), anyLong(), any(), anyLong());

        IllegalArgumentException failure =
                assertThrows(IllegalArgumentException.class, () -> gpu.broadcast(in, 0, nccl));

        assertTrue(failure.getMessage().contains("broadcast"), failure.getMessage());
        assertTrue(failure.getMessage().contains("D2D clone failed"), failure.getMessage());
        assertSame(cause, failure.getCause());
        assertEquals(1, memory.live());
    }

    @Test
    @DisplayName("0-23 0-24 REQ-1 decision 7: NCCL wins even if the gate is open, and its failure is final")
    void aFailureOfNcclIsFinalThoughTheGateIsOpen() {
        DeviceTensor in = memory.tensor(new long[] {2}, 3f, 5f);
        FerroException cause = new FerroException(Code.NATIVE, Where.of("", 0), "ncclAllReduce failed: 5");
        doThrow(cause).when(nccl).run(any(), any(CallOptions.class));

        FerroException failure = assertThrows(FerroException.class, () -> gpu.allReduce(in, ReduceOp.SUM, nccl));

        assertSame(cause, failure);
        assertEquals(List.of(), log.lines());
        assertEquals(List.of(), fallback.calls());
        assertEquals(0, gpu.fallbackCount("allReduce"));
        assertEquals(1, memory.live(), "the fresh tensor is freed");
    }

    @Test
    @DisplayName("0-18: the asynchronous form hands out the work, and frees the fresh tensor if it fails")
    void theAsynchronousFormFreesItsResultIfTheWorkFails() {
        DeviceTensor in = memory.tensor(new long[] {2}, 3f, 5f);
        Done work = Done.open();
        doReturn(work).when(nccl).submit(any(Collective.class), any(CallOptions.class));

        OutOfPlaceResult result = gpu.allReduceAsync(in, ReduceOp.SUM, nccl);
        assertSame(work, result.work());
        assertEquals(2, memory.live());
        FerroException lost = new FerroException(Code.PEER_LOST, Where.of("", 0), "rank 1 is gone");
        work.end().completeExceptionally(lost);

        assertSame(lost, assertThrows(FerroException.class, result::await));
        assertEquals(1, memory.live());
    }

    @Test
    void everyAsynchronousFormSubmitsTheCallOfTheBlockingForm() {
        DeviceTensor in = memory.tensor(new long[] {2, 3}, 1, 2, 3, 4, 5, 6);
        ReduceOp op = ReduceOp.MAX;

        DeviceTensor sum = gpu.allReduce(in, op, second);
        asked(second, sum, gpu.allReduceAsync(in, op, second), out -> Collective.allReduce(in, out, op));
        DeviceTensor copy = gpu.broadcast(in, 1, second);
        asked(second, copy, gpu.broadcastAsync(in, 1, second), out -> Collective.broadcast(out, 1));
        DeviceTensor atRoot = gpu.reduce(in, op, 1, second).orElseThrow();
        asked(second, atRoot, gpu.reduceAsync(in, op, 1, second), out -> Collective.reduce(in, out, op, 1));
        DeviceTensor joined = gpu.allGather(in, second);
        asked(second, joined, gpu.allGatherAsync(in, second), out -> Collective.allGather(in, out));
        DeviceTensor part = gpu.reduceScatter(in, op, second);
        asked(second, part, gpu.reduceScatterAsync(in, op, second), out -> Collective.reduceScatter(in, out, op));
        DeviceTensor gathered = gpu.gather(in, 1, second).orElseThrow();
        asked(second, gathered, gpu.gatherAsync(in, 1, second), out -> Collective.gather(in, out, 1));
        DeviceTensor own = gpu.scatter(in, 1, second);
        asked(second, own, gpu.scatterAsync(in, 1, second), out -> Collective.scatter(in, out, 1));
        DeviceTensor swapped = gpu.allToAll(in, second);
        asked(second, swapped, gpu.allToAllAsync(in, second), out -> Collective.allToAll(in, out));

        assertEquals(1, memory.live());
    }

    /** What NCCL was asked for, once each way, into results of one shape; frees both. */
    private static void asked(
            NcclBackend nccl, DeviceTensor ran, OutOfPlaceResult submitted, Function<DeviceTensor, Collective> call) {
        assertNotEquals(ran.address(), submitted.tensor().address());
        assertArrayEquals(ran.shape(), submitted.tensor().shape());
        verify(nccl).run(call.apply(ran), CallOptions.of(Duration.ofSeconds(9)));
        verify(nccl).submit(call.apply(submitted.tensor()), CallOptions.of(Duration.ofSeconds(9)));
        GpuCollectives.free(ran);
        GpuCollectives.free(submitted.await());
    }

    @Test
    @DisplayName("0-19: a fresh tensor is freed by its owner; what somebody else owns is not")
    void freeWorksOnOwnersThatCanAndRefusesOthers() {
        DeviceTensor out = gpu.allReduce(memory.tensor(new long[] {1}, 3f), ReduceOp.SUM, nccl);
        GpuCollectives.free(out);
        assertEquals(1, memory.live());

        DeviceTensor foreign = new DeviceTensor(DataType.FLOAT32, new long[] {1}, 64, 0, "a framework");
        String text = assertThrows(IllegalArgumentException.class, () -> GpuCollectives.free(foreign))
                .getMessage();
        assertTrue(text.contains("a framework"), text);
    }

    @Test
    @DisplayName(
            "0-17: in place is legal, send and receive may be one pointer; the NCCL view checks what it is given, once")
    void inPlaceCallsReachNcclUnchanged() {
        DeviceTensor data = memory.tensor(new long[] {2}, 3f, 5f);
        Collective call = Collective.allReduce(data, ReduceOp.SUM);

        gpu.run(call, nccl, Duration.ofSeconds(2));
        gpu.submit(call, nccl, Duration.ofSeconds(3)).await();
        gpu.transfer(Message.send(data, 0, 3), nccl, Duration.ofSeconds(5));
        verify(nccl, never()).unsupportedBecause(any());
        verify(nccl, never()).device();
        gpu.within(Duration.ofSeconds(4)).allReduce(data, ReduceOp.SUM, nccl);

        verify(nccl).run(call, CallOptions.of(Duration.ofSeconds(2)));
        verify(nccl).submit(Message.send(data, 0, 3), CallOptions.of(Duration.ofSeconds(5)));
        verify(nccl).submit(call, CallOptions.of(Duration.ofSeconds(3)));
        verify(nccl).run(any(), eq(CallOptions.of(Duration.ofSeconds(4))));
    }

    @Test
    @DisplayName(
            "3-42 decision 4: device tensors are sent and received by NCCL itself; a negative tag and a peer that is no rank are refused first")
    void messagesGoToNcclWithoutTags() {
        DeviceTensor data = memory.tensor(new long[] {2}, 3f, 5f);

        gpu.send(data, 0, nccl);
        gpu.recv(data, 0, nccl);
        verify(nccl).submit(Message.send(data, 0, 0), CallOptions.of(Duration.ofSeconds(9)));
        verify(nccl).submit(Message.recv(data, 0, 0), CallOptions.of(Duration.ofSeconds(9)));

        NcclBackend other = MockNccl.of(memory, 0, 1);
        Duration timeout = Duration.ofSeconds(1);
        assertThrows(IllegalArgumentException.class, () -> gpu.transfer(Message.send(data, 0, -3), other, timeout));
        assertEquals(1, invalidRank(1, () -> gpu.send(data, 1, other)));
        assertCostNothing(other);
    }

    private static int invalidRank(int rank, Executable call) {
        InvalidRankException failure = assertThrows(InvalidRankException.class, call);
        assertEquals(rank, failure.rank());
        return failure.worldSize();
    }

    /** Nothing but questions was asked: the list of Dispatch. */
    private static void assertCostNothing(NcclBackend nccl) {
        verify(nccl, atLeast(0)).asNcclBackend();
        verify(nccl, atLeast(0)).rank();
        verify(nccl, atLeast(0)).worldSize();
        verify(nccl, atLeast(0)).timeout();
        verify(nccl, atLeast(0)).device();
        verify(nccl, atLeast(0)).unsupportedBecause(any());
        verifyNoMoreInteractions(nccl);
    }
}
