package ferro.dispatch;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.argThat;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import ferro.Backend;
import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.CollectiveKind;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.FerroTransferException;
import ferro.HostTensor;
import ferro.InvalidRankException;
import ferro.Message;
import ferro.ReduceOp;
import ferro.spi.TestContext;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The slow path and the error: gate, warning, counter, and what is missing; over a small round trip of floats. */
class GpuCollectivesOverHostTest {
    private static final String GATE = "FERRO_ENABLE_GPU_FALLBACK";

    private static final Duration DEADLINE = Duration.ofSeconds(9);

    private final HeapDevice memory = new HeapDevice();
    private final TestContext context = new TestContext() {
        @Override
        public long nanoTime() {
            return System.nanoTime();
        }
    }.with(GATE, "1");
    private final TestLog log = new TestLog();
    private final FakeFallback fallback = new FakeFallback(memory);
    private final GpuCollectives gpu = GpuCollectives.with(context, () -> Optional.of(fallback), log);
    private final CollectiveBackend host = mock(CollectiveBackend.class);
    private final DeviceTensor data = memory.tensor(new long[] {2}, 3f, 5f);

    /** A host back end of rank 1 of 2, whose sums are as if the other rank had 10 and 20. */
    @BeforeEach
    void openHost() {
        when(host.rank()).thenReturn(1);
        when(host.worldSize()).thenReturn(2);
        when(host.timeout()).thenReturn(Duration.ofSeconds(9));
        doAnswer(call -> addOther(call.getArgument(0))).when(host).run(any(), any(CallOptions.class));
        context.shared(DeviceMemory.class, () -> memory);
    }

    private static Object addOther(Collective call) {
        if (call.kind() == CollectiveKind.ALL_REDUCE) {
            float[] in = (float[]) ((HostTensor) call.in()).memory();
            float[] out = (float[]) ((HostTensor) call.out()).memory();
            for (int i = 0; i < in.length; i++) {
                out[i] = in[i] + 10 * (i + 1);
            }
        }
        return null;
    }

    @Test
    @DisplayName("row 37: 0-27 0-02 0-26 decision 6 REQ-4 neither NCCL nor opt-in is an error that says what to do")
    void withoutNcclAndOptInItIsAnErrorThatSaysWhatToDo() {
        context.unset(GATE);

        String text = refused(() -> gpu.allReduce(data, ReduceOp.SUM, host));

        for (String token :
                List.of("allReduce", "requires nccl", GATE + "=1", "host round-trip (Gloo-equivalent)", "rank 1")) {
            assertTrue(text.contains(token), text);
        }
        assertEquals(List.of(), log.lines());
        assertEquals(List.of(), fallback.calls());
        assertEquals(1, memory.live());
        verify(host, never()).run(any(), any(CallOptions.class));
    }

    @Test
    @DisplayName("T16 0-25: =0 keeps the gate closed, and the error names the setting that wins")
    void zeroKeepsTheGateClosedAndIsNamed() {
        context.with("ferro.gpu.fallback", "0");

        String text = refused(() -> gpu.broadcast(data, 0, host));

        assertTrue(text.contains("broadcast"), text);
        assertTrue(text.contains("ferro.gpu.fallback forbids the round-trip and takes precedence"), text);
    }

    @Test
    @DisplayName("0-06 0-25 decision 1: the gate is read on every call")
    void theGateIsReadOnEveryCall() {
        gpu.allReduce(data, ReduceOp.SUM, host);
        context.with("ferro.gpu.fallback", "off");
        refused(() -> gpu.allReduce(data, ReduceOp.SUM, host));
        context.with("ferro.gpu.fallback", "on");
        gpu.allReduce(data, ReduceOp.SUM, host);

        assertEquals(List.of("allReduce", "allReduce"), fallback.calls());
    }

    @Test
    @DisplayName("0-06 0-10 0-19 REQ-3: with opt-in the result is fresh, on the input's device, and the input stays")
    void withOptInTheResultIsFreshAndTheInputStays() {
        DeviceTensor out = gpu.allReduce(data, ReduceOp.SUM, host);

        assertArrayEquals(new float[] {13f, 25f}, memory.floats(out));
        assertArrayEquals(new float[] {3f, 5f}, memory.floats(data));
        assertEquals(data.device(), out.device());
    }

    @Test
    @DisplayName("0-12 0-21: a broadcast's root gets a fresh copy of its own data")
    void theRootOfABroadcastGetsACopyOfItsOwnData() {
        DeviceTensor out = gpu.broadcast(data, 1, host);

        assertArrayEquals(new float[] {3f, 5f}, memory.floats(out));
        assertTrue(out.address() != data.address());
    }

    @Test
    @DisplayName(
            "0-07 REQ-6 decision 7: every call warns, before anything moves, with collective, rank and the way to an error")
    void everyCallWarnsBeforeAnythingMoves() {
        doAnswer(call -> {
                    assertEquals(1, log.lines().size(), "the warning comes first");
                    return null;
                })
                .doAnswer(call -> null)
                .when(host)
                .run(any(), any(CallOptions.class));

        gpu.run(Collective.allReduce(data, ReduceOp.SUM), host, Duration.ofSeconds(1));
        gpu.submit(Collective.allReduce(data, ReduceOp.SUM), host, Duration.ofSeconds(1));
        gpu.broadcastAsync(data, 0, host).await();

        assertEquals(3, log.lines().size());
        assertEquals(log.lines().get(0), log.lines().get(1));
        for (String token : List.of(
                "WARNING ",
                "allReduce of f32[2] on device 0",
                "host round-trip",
                "Gloo-equivalent slow path",
                "collective=allReduce",
                "unset " + GATE + " to get an error",
                "rank 1 of world size 2")) {
            assertTrue(log.lines().get(0).contains(token), log.lines().get(0));
        }
        assertTrue(
                log.lines().get(2).contains("collective=broadcast"), log.lines().get(2));
        assertEquals(2, gpu.fallbackCount("allReduce"));
        assertEquals(1, gpu.fallbackCount("broadcast"));
        assertEquals(0, gpu.fallbackCount("reduce"));
    }

    @Test
    @DisplayName("0-07: the counter is the rank's, all its groups share it")
    void theCounterIsSharedByAllDoorsOfAContext() {
        gpu.allReduce(data, ReduceOp.SUM, host);
        gpu.close();

        GpuCollectives other = GpuCollectives.with(context, () -> Optional.of(fallback), log);
        other.allReduce(data, ReduceOp.SUM, host);

        assertEquals(2, gpu.fallbackCount("allReduce"));
        assertEquals(2, other.within(Duration.ofSeconds(1)).fallbackCount("allReduce"));
    }

    @Test
    @DisplayName(
            "0-20 0-28 0-29 decision 2 test_gpu_broadcast_invalid_root: the root is first on every path, with its numbers")
    void theRootIsCheckedFirstOnThePathsWithoutNccl() {
        when(host.unsupportedBecause(any())).thenReturn(Optional.of("the type is bad too"));
        for (String gate : new String[] {"1", "0"}) {
            context.with(GATE, gate);
            InvalidRankException failure = assertThrows(InvalidRankException.class, () -> gpu.broadcast(data, 5, host));
            assertEquals(5, failure.rank());
            assertEquals(2, failure.worldSize());
        }
        assertEquals(List.of(), log.lines());
        assertEquals(1, memory.live());
    }

    @Test
    @DisplayName("0-13 0-14 decision 9: what the host path does not take fails before anything moves")
    void whatTheHostDoesNotTakeFailsFirst() {
        when(host.unsupportedBecause(any())).thenAnswer(call -> {
            Collective asked = call.getArgument(0);
            return asked.operand().dataType() == DataType.INT64 && asked.operand() instanceof HostTensor
                    ? Optional.of("AVG of i64 could wrap")
                    : Optional.empty();
        });
        DeviceTensor longs = memory.allocate(DataType.INT64, new long[] {3}, 0);

        String text = refused(() -> gpu.allReduce(longs, ReduceOp.AVG, host));

        assertTrue(text.contains("allReduce") && text.contains("AVG of i64 could wrap"), text);
        assertEquals(List.of(), log.lines());
        assertEquals(List.of(), fallback.calls());
    }

    @Test
    @DisplayName("0-08 decision 6 REQ-7: open gate but no round trip: an error naming the artifact, and no warning")
    void withoutTheArtifactItIsAnErrorNamingItAndNoWarning() {
        GpuCollectives alone = GpuCollectives.with(context, HostFallbackPath::service, log);

        String text = refused(() -> alone.allReduce(data, ReduceOp.SUM, host));

        for (String token : List.of("allReduce", "requires nccl", GATE + "=1", "ferro-backend-gloo-fallback")) {
            assertTrue(text.contains(token), text);
        }
        assertEquals(List.of(), log.lines());
        assertEquals(0, alone.fallbackCount("allReduce"));
    }

    @Test
    @DisplayName("decision 6: what the round trip does not take is refused without a warning and a count")
    void whatTheRoundTripDoesNotTakeIsNoSlowCall() {
        fallback.unsupported("parts differ");

        String call = refused(() -> gpu.run(Collective.allReduce(data, ReduceOp.SUM), host, DEADLINE));
        String fresh = refused(() -> gpu.allReduce(data, ReduceOp.SUM, host));
        String message = refused(() -> gpu.recv(data, 0, host));

        for (String text : List.of(call, fresh, message)) {
            assertTrue(text.contains("on rank 1 of world size 2: parts differ"), text);
        }
        assertEquals(List.of(), log.lines());
        assertEquals(List.of(), fallback.calls());
        assertEquals(0, gpu.fallbackCount("allReduce") + gpu.fallbackCount("recv"));
        assertEquals(1, memory.live());
    }

    @Test
    @DisplayName(
            "decision 6: a round trip that cannot work here says why, without a warning; it is asked again on the next call")
    void aRoundTripThatCannotWorkSaysWhy() {
        fallback.unavailable("no usable device memory; found: none");

        String text = refused(() -> gpu.allReduce(data, ReduceOp.SUM, host));
        assertTrue(text.contains("no usable device memory; found: none"), text);
        assertEquals(List.of(), log.lines());

        fallback.unavailable(null);
        gpu.allReduce(data, ReduceOp.SUM, host);
        assertEquals(1, log.lines().size());
    }

    @Test
    @DisplayName("decision 6: a plain back end is told to be wrapped")
    void aPlainBackendIsRefusedWithTheAdviceToWrapIt() {
        Backend plain = mock(Backend.class);
        when(plain.rank()).thenReturn(1);
        when(plain.worldSize()).thenReturn(2);
        when(plain.asNcclBackend()).thenCallRealMethod();

        String text = refused(() -> gpu.allReduce(data, ReduceOp.SUM, plain));

        assertTrue(text.contains("ProcessGroup.of") && text.contains(GATE + "=1"), text);
        assertEquals(List.of(), log.lines());
        verify(plain, never()).send(any(), anyInt(), anyInt(), any());
        verify(plain, never()).recv(any(), anyInt(), anyInt(), any());
        verify(plain, never()).barrier(any());
    }

    @Test
    @DisplayName("0-11 0-12: what the round trip throws arrives as it is, and the fresh tensor is freed")
    void anExceptionOfTheRoundTripIsThrownUnchanged() {
        List<RuntimeException> causes = List.of(
                new FerroException(Code.PEER_LOST, Where.of("", 1), "rank 0 is gone"),
                new FerroTransferException("allReduce: CPU->GPU transfer failed", new IllegalStateException("700")));
        for (RuntimeException cause : causes) {
            doAnswer(call -> {
                        throw cause;
                    })
                    .when(host)
                    .run(any(), any(CallOptions.class));

            assertSame(cause, assertThrows(RuntimeException.class, () -> gpu.allReduce(data, ReduceOp.SUM, host)));
            assertSame(cause, assertThrows(RuntimeException.class, () -> gpu.allReduceAsync(data, ReduceOp.SUM, host)));
        }
        assertEquals(1, memory.live());
    }

    @Test
    @DisplayName("decision 4: messages take the round trip with their tags, warn and count")
    void messagesTakeTheRoundTripWithTheirTags() {
        gpu.transfer(Message.send(data, 0, 7), host, Duration.ofSeconds(1)).await();
        gpu.recv(data, 0, host);

        assertEquals(List.of("send to 0 tag 7", "recv from 0 tag 0"), fallback.calls());
        assertTrue(log.lines().get(0).contains("collective=send"), log.lines().get(0));
        assertEquals(1, gpu.fallbackCount("recv"));
        assertThrows(InvalidRankException.class, () -> gpu.send(data, 2, host));
        verify(host, never()).submit(any(Message.class), any(CallOptions.class));
    }

    @Test
    @DisplayName("0-10: what goes through host memory by one door is waited for at every door of the context")
    void callsInFlightAreVisibleInAllOfAContextsDispatchers() {
        GpuCollectives other = GpuCollectives.with(context, () -> Optional.of(fallback), log);
        fallback.busy(true);
        assertFalse(other.isBusy(host, Duration.ZERO), "nothing ever went that way");

        gpu.allReduce(data, ReduceOp.SUM, host);

        assertTrue(other.isBusy(host, Duration.ZERO));
        Done work = Done.open();
        Collective behind = Collective.broadcast(HostTensor.of(new float[] {7f}), 0);
        when(host.submit(behind, CallOptions.of(Duration.ofSeconds(2)))).thenReturn(work);
        assertSame(work, other.behind(behind, host, Duration.ofSeconds(2)));
        fallback.busy(false);
        assertFalse(other.isBusy(host, Duration.ZERO));
        assertEquals(1, log.lines().size(), "a call on host tensors is no slow way");
    }

    @Test
    void hostAndDeviceTensorsOrTwoDevicesInOneCallAreRefused() {
        HostTensor onHost = HostTensor.of(new float[2]);
        DeviceTensor elsewhere = new DeviceTensor(DataType.FLOAT32, new long[] {2}, 64, 3, null);

        for (Collective call : List.of(
                Collective.allReduce(data, onHost, ReduceOp.SUM),
                Collective.allReduce(onHost, data, ReduceOp.SUM),
                Collective.gather(data, onHost, 0),
                Collective.allReduce(data, elsewhere, ReduceOp.SUM),
                Collective.broadcast(onHost, 0),
                Collective.barrier())) {
            assertThrows(
                    IllegalArgumentException.class,
                    () -> gpu.run(call, host, Duration.ofSeconds(1)),
                    call.kind().label());
        }
        assertEquals(List.of(), log.lines());
    }

    @Test
    void closingReleasesTheDeviceMemoryOnce() {
        gpu.allReduce(data, ReduceOp.SUM, host);
        assertEquals(2, context.uses(DeviceMemory.class));
        fallback.busy(true);
        gpu.over(host).close(DEADLINE);
        // the wait for calls in flight has taken a part of the time
        verify(host).close(argThat((Duration left) -> left.compareTo(DEADLINE) < 0));

        gpu.close();
        gpu.close();

        assertEquals(1, context.uses(DeviceMemory.class));
    }

    private static String refused(org.junit.jupiter.api.function.Executable call) {
        return assertThrows(UnsupportedOperationException.class, call).getMessage();
    }
}
