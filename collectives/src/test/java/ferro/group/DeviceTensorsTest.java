package ferro.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.verifyNoMoreInteractions;
import static org.mockito.Mockito.when;

import ferro.Backend;
import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.CollectiveKind;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.HostTensor;
import ferro.InvalidRankException;
import ferro.Message;
import ferro.NcclBackend;
import ferro.ReduceOp;
import ferro.Work;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Device tensors through the front door; the way itself is tested beside the dispatch. */
class DeviceTensorsTest {
    private static final Duration DEADLINE = Duration.ofSeconds(7);

    private final NcclBackend nccl = mock(NcclBackend.class);
    private final CollectiveBackend outer = mock(CollectiveBackend.class);
    private final DeviceTensor two = device(2, 64);
    private final DeviceTensor four = device(4, 128);

    private static DeviceTensor device(long elements, long address) {
        return new DeviceTensor(DataType.FLOAT32, new long[] {elements}, address, 0, null);
    }

    /** A decorator, rank 1 of 2, around an NCCL back end. */
    @BeforeEach
    void decorate() {
        for (Backend end : List.of(nccl, outer)) {
            when(end.rank()).thenReturn(1);
            when(end.worldSize()).thenReturn(2);
            when(end.timeout()).thenReturn(DEADLINE);
            when(end.asNcclBackend()).thenReturn(Optional.of(nccl));
        }
    }

    private ProcessGroup group() {
        return Groups.of(outer, SystemContext.of(Map.of("ferro.gpu.fallback", "1")));
    }

    @Test
    @DisplayName(
            "0-09 0-01 0-05 REQ-1 decision 10: the second consumer: every form of a group, in place, behind a decorator")
    void everyBlockingFormReachesNcclInPlace() {
        Map<Consumer<ProcessGroup>, Collective> forms = Map.of(
                group -> group.allReduce(two, ReduceOp.SUM), Collective.allReduce(two, ReduceOp.SUM),
                group -> group.broadcast(two, 1), Collective.broadcast(two, 1),
                group -> group.reduce(two, ReduceOp.MAX, 1), Collective.reduce(two, ReduceOp.MAX, 1),
                group -> group.reduce(two, ReduceOp.MAX, 0), Collective.reduce(two, ReduceOp.MAX, 0),
                group -> group.allGather(two, four), Collective.allGather(two, four),
                group -> group.reduceScatter(four, two, ReduceOp.SUM),
                        Collective.reduceScatter(four, two, ReduceOp.SUM),
                group -> group.gather(two, null, 0), Collective.gather(two, 0),
                group -> group.scatter(null, two, 0), Collective.scatter(two, 0),
                group -> group.allToAll(four, device(4, 256)), Collective.allToAll(four, four));
        ProcessGroup group = group();

        forms.forEach((form, call) -> {
            form.accept(group);
            verify(nccl).run(org.mockito.ArgumentMatchers.argThat(made -> isLike(call, made)), any(CallOptions.class));
            org.mockito.Mockito.clearInvocations(nccl);
        });

        verify(outer, never()).run(any(), any(CallOptions.class));
    }

    /** Compares all but tensors that a form makes anew. */
    private static boolean isLike(Collective expected, Collective made) {
        return expected.kind() == CollectiveKind.ALL_TO_ALL ? expected.kind() == made.kind() : expected.equals(made);
    }

    @Test
    @DisplayName("0-09: asynchronous forms and messages, with the deadline of the group or of the call")
    void asynchronousFormsAndMessagesReachNccl() {
        Work work = mock(Work.class);
        when(nccl.submit(any(Collective.class), any(CallOptions.class))).thenReturn(work);
        when(nccl.submit(any(Message.class), any(CallOptions.class))).thenReturn(work);
        ProcessGroup group = group();

        assertSame(work, group.within(Duration.ofSeconds(2)).allReduceAsync(two, ReduceOp.SUM));
        assertSame(work, group.labelled("loss").submit(Collective.broadcast(two, 0)));
        assertSame(work, group.labelled("letter").sendAsync(two, 0, 0));
        group.recv(two, 0, 0);

        verify(nccl).submit(Collective.allReduce(two, ReduceOp.SUM), CallOptions.of(Duration.ofSeconds(2)));
        verify(nccl)
                .submit(Collective.broadcast(two, 0), CallOptions.of(DEADLINE).labelled("loss"));
        verify(nccl).submit(Message.send(two, 0, 0), CallOptions.of(DEADLINE).labelled("letter"));
        verify(nccl).submit(Message.recv(two, 0, 0), CallOptions.of(DEADLINE));
        verify(work).await();
    }

    @Test
    @DisplayName("0-09: host tensors, arrays and barriers never come near the dispatch")
    void hostTensorsDoNotPay() {
        ProcessGroup group = group();

        group.allReduce(new float[] {3f}, ReduceOp.SUM);
        group.barrier();

        verify(outer).run(Collective.barrier(), CallOptions.of(DEADLINE));
        verify(outer, never()).asNcclBackend();
        verifyNoMoreInteractions(nccl);
    }

    @Test
    @DisplayName(
            "row 37: 0-02 0-25 0-28 decision 2 no NCCL and a closed gate is an error; a bad root is named before it")
    void withoutNcclAndOptInItIsAnError() {
        when(outer.asNcclBackend()).thenReturn(Optional.empty());
        ProcessGroup group = Groups.of(outer, SystemContext.of(Map.of("FERRO_ENABLE_GPU_FALLBACK", "0")));

        String text = assertThrows(UnsupportedOperationException.class, () -> group.allReduce(two, ReduceOp.SUM))
                .getMessage();
        assertTrue(text.contains("requires nccl") && text.contains("FERRO_ENABLE_GPU_FALLBACK=1"), text);
        assertThrows(UnsupportedOperationException.class, () -> group.send(two, 0, 0));
        InvalidRankException bad = assertThrows(InvalidRankException.class, () -> group.broadcast(two, 5));
        assertEquals(2, bad.worldSize());
        verify(outer, never()).run(any(), any(CallOptions.class));
    }

    @Test
    void hostAndDeviceTensorsInOneCallAreRefused() {
        HostTensor onHost = HostTensor.of(new float[4]);
        ProcessGroup group = group();

        assertThrows(IllegalArgumentException.class, () -> group.allGather(two, onHost));
        assertThrows(IllegalArgumentException.class, () -> group.gather(two, onHost, 0));

        verify(nccl, never()).run(any(), any(CallOptions.class));
    }

    @Test
    @DisplayName("0-09: a subgroup has the same settings")
    void aSubgroupHasTheSettingsOfItsParent() {
        when(outer.asNcclBackend()).thenReturn(Optional.empty());
        when(outer.newGroup(any(), any(), any())).thenReturn(outer);
        ProcessGroup child = Groups.of(outer, SystemContext.of(Map.of("FERRO_ENABLE_GPU_FALLBACK", "off")))
                .newGroup(0, 1);

        String text = assertThrows(UnsupportedOperationException.class, () -> child.allReduce(two, ReduceOp.SUM))
                .getMessage();

        assertTrue(text.contains("or set FERRO_ENABLE_GPU_FALLBACK=1"), text);
    }

    @Test
    @DisplayName("0-05: the engine around a plain back end forwards its NCCL view")
    void theEngineAroundAPlainBackendForwardsItsView() {
        Backend plain = mock(Backend.class);
        when(plain.worldSize()).thenReturn(1);
        when(plain.timeout()).thenReturn(DEADLINE);
        when(plain.asNcclBackend()).thenReturn(Optional.of(nccl));
        try (ProcessGroup group = Groups.of(plain, SystemContext.of(Map.of()))) {
            assertSame(nccl, group.backend().asNcclBackend().orElseThrow());
        }
    }

    @Test
    @DisplayName("0-25 decision 1: a property of the process is read when it is asked for")
    void aPropertyOfTheProcessIsReadAtEachUse() {
        String name = "ferro.test." + Long.toHexString(System.nanoTime());
        SystemContext context = SystemContext.ofProcess();
        assertEquals(Optional.empty(), context.setting(name));
        System.setProperty(name, "later");
        try {
            assertEquals(Optional.of("later"), context.setting(name));
        } finally {
            System.clearProperty(name);
        }
        assertEquals(Optional.empty(), context.setting(name));
    }
}
