package ferro.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.inOrder;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.GroupEvent;
import ferro.GroupEvent.Kind;
import ferro.HostTensor;
import ferro.Message;
import ferro.NcclBackend;
import ferro.ReduceOp;
import ferro.dispatch.GpuCollectives;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.mockito.InOrder;

/** The door with NCCL beside the back end for host tensors. */
class DeviceTensorBackendTest {
    private static final Duration BOUND = Duration.ofSeconds(3);
    private static final CallOptions LABELLED = CallOptions.of(BOUND).labelled("loss");
    private static final SystemContext CONTEXT = SystemContext.of(Map.of());

    private final CollectiveBackend host = mock(CollectiveBackend.class);
    private final NcclBackend device = mock(NcclBackend.class);
    private final DeviceTensor onDevice = new DeviceTensor(DataType.FLOAT32, new long[] {2}, 64, 0, null);
    private final HostTensor onHost = HostTensor.of(new float[] {3f, 5f});
    private CollectiveBackend both;

    @BeforeEach
    void ends() {
        when(host.rank()).thenReturn(1);
        when(host.worldSize()).thenReturn(2);
        when(host.timeout()).thenReturn(BOUND);
        when(device.rank()).thenReturn(1);
        when(device.worldSize()).thenReturn(2);
        when(device.asNcclBackend()).thenReturn(Optional.of(device));
        both = over(() -> {});
    }

    private CollectiveBackend over(Runnable afterClose) {
        return GpuCollectives.with(CONTEXT).over(host, device, afterClose).orElseThrow();
    }

    @Test
    @DisplayName("2-18: collectives and messages go where their tensors live; bytes and barriers to the host's")
    void callsGoWhereTheirTensorsLive() {
        Collective forDevice = Collective.broadcast(onDevice, 0);
        Collective forHost = Collective.broadcast(onHost, 0);
        ByteBuffer bytes = ByteBuffer.allocate(1);

        both.run(forDevice, LABELLED);
        both.submit(forHost, LABELLED);
        both.unsupportedBecause(forDevice);
        both.submit(Message.send(onDevice, 0, 0), LABELLED);
        both.submit(Message.recv(onHost, 0, 4), LABELLED);
        both.send(bytes, 0, 5, BOUND);
        both.recv(bytes, 0, 6, BOUND);
        both.barrier(BOUND);
        both.run(Collective.barrier(), BOUND);

        verify(device).run(forDevice, LABELLED);
        verify(device).unsupportedBecause(forDevice);
        verify(device).submit(Message.send(onDevice, 0, 0), LABELLED);
        verify(host).submit(forHost, LABELLED);
        verify(host).submit(Message.recv(onHost, 0, 4), LABELLED);
        verify(host).send(bytes, 0, 5, BOUND);
        verify(host).recv(bytes, 0, 6, BOUND);
        verify(host, times(2)).run(Collective.barrier(), CallOptions.of(BOUND));
        assertEquals(1, both.rank());
        assertEquals(2, both.worldSize());
        assertEquals(BOUND, both.timeout());
        assertSame(device, both.asNcclBackend().orElseThrow());
    }

    @Test
    void listenersReceiveTheFailureOfAPairOnce() {
        List<GroupEvent> received = new ArrayList<>();
        for (CollectiveBackend each : List.of(host, device)) {
            doAnswer(call -> {
                        Consumer<GroupEvent> listener = call.getArgument(0);
                        listener.accept(GroupEvent.of(Kind.LATE, "pair", 1, List.of(0), "late"));
                        listener.accept(GroupEvent.of(Kind.FAILED, "pair", 1, List.of(0), "failed"));
                        return null;
                    })
                    .when(each)
                    .onEvent(any());
        }

        both.onEvent(received::add);

        assertEquals(
                List.of(Kind.LATE, Kind.FAILED, Kind.LATE),
                received.stream().map(GroupEvent::kind).toList());
    }

    @Test
    @DisplayName("2-18 0-23: through the front door both kinds of tensors work side by side, with the gate closed")
    void bothKindsOfTensorsGoThroughOneGroup() {
        ProcessGroup group = Groups.of(both, SystemContext.of(Map.of()));

        group.allReduce(onDevice, ReduceOp.SUM);
        group.allReduce(onHost, ReduceOp.SUM);

        verify(device).run(Collective.allReduce(onDevice, ReduceOp.SUM), CallOptions.of(BOUND));
        verify(host).run(Collective.allReduce(onHost, ReduceOp.SUM), CallOptions.of(BOUND));
        UnsupportedOperationException refusal = assertThrows(
                UnsupportedOperationException.class,
                () -> group.coalesced(() -> group.allReduce(onDevice, ReduceOp.SUM)));
        assertTrue(refusal.getMessage().contains("cannot be in a block"), refusal.getMessage());
    }

    @Test
    void bothBackendsAreClosedAndTheFirstFailureIsKept() {
        IllegalStateException first = new IllegalStateException("host");
        IllegalStateException second = new IllegalStateException("device");
        doThrow(first).when(host).close(any());
        doThrow(second).when(device).close(any());

        IllegalStateException thrown = assertThrows(IllegalStateException.class, () -> both.close(BOUND));

        assertSame(first, thrown);
        assertSame(second, thrown.getSuppressed()[0]);
        InOrder order = inOrder(device, host);
        order.verify(device).leave(BOUND);
        order.verify(host).close(any());
        order.verify(device).close(any());
    }

    @Test
    @DisplayName("2-18: what both use, the store, ends after both, whatever they do")
    void theStoreIsClosedAfterBothBackends() {
        Runnable store = mock(Runnable.class);
        doThrow(new IllegalStateException("host")).when(host).close(any());
        CollectiveBackend sharing = over(store);

        assertThrows(IllegalStateException.class, () -> sharing.close(BOUND));

        InOrder order = inOrder(device, host, store);
        order.verify(host).close(any());
        order.verify(device).close(any());
        order.verify(store).run();
    }

    @Test
    void theLongestTimeoutIsAccepted() {
        CollectiveBackend child = mock(CollectiveBackend.class);
        NcclBackend deviceChild = mock(NcclBackend.class);
        Duration forever = Duration.ofSeconds(Long.MAX_VALUE);
        when(host.newGroup(any(), any(), eq(forever))).thenReturn(child);
        when(device.newGroup(any(), any(), any())).thenReturn(deviceChild);

        both.newGroup(new int[] {0, 1}, "[0, 1]", forever);
        both.close(forever);

        verify(host).close(any());
    }

    @Test
    void anAbortReachesTheHostIfTheDeviceFails() {
        Throwable cause = new IllegalStateException("why");
        doThrow(new IllegalStateException("device")).when(device).abort(any());

        assertThrows(IllegalStateException.class, () -> both.abort(cause));

        verify(host).abort(cause);
    }

    @Test
    @DisplayName("2-18: a subgroup has both; if the second cannot be made, the first is closed")
    void aSubgroupHasBothBackendsOrNone() {
        CollectiveBackend child = mock(CollectiveBackend.class);
        NcclBackend deviceChild = mock(NcclBackend.class);
        when(deviceChild.asNcclBackend()).thenReturn(Optional.of(deviceChild));
        int[] ranks = {0, 1};
        when(host.newGroup(ranks, "[0, 1]", BOUND)).thenReturn(child);
        when(device.newGroup(eq(ranks), eq("[0, 1]"), any())).thenReturn(deviceChild);

        assertSame(
                deviceChild,
                both.newGroup(ranks, "[0, 1]", BOUND).asNcclBackend().orElseThrow());
        verify(child, never()).close();

        when(device.newGroup(eq(ranks), eq("[0, 1]"), any())).thenThrow(new IllegalStateException("no"));
        assertThrows(IllegalStateException.class, () -> both.newGroup(ranks, "[0, 1]", BOUND));
        verify(child).close();
    }
}
