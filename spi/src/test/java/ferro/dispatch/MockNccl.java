package ferro.dispatch;

import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import ferro.CallOptions;
import ferro.Collective;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.Message;
import ferro.NcclBackend;
import ferro.NcclBackend.RawShape;
import java.time.Duration;
import java.util.Optional;

/**
 * Mocked NCCL views over a heap device; a call that has an output gets {@link #written} there, which nobody but the view
 * writes.
 */
final class MockNccl {
    static final long STREAM = 77;

    private MockNccl() {}

    static NcclBackend of(HeapDevice memory, int rank, int worldSize) {
        NcclBackend nccl = mock(NcclBackend.class);
        when(nccl.asNcclBackend()).thenReturn(Optional.of(nccl));
        when(nccl.rank()).thenReturn(rank);
        when(nccl.worldSize()).thenReturn(worldSize);
        when(nccl.timeout()).thenReturn(Duration.ofSeconds(9));
        when(nccl.stream()).thenReturn(STREAM);
        when(nccl.allocate(any(), any(long[].class)))
                .thenAnswer(call ->
                        memory.allocate((DataType) call.getRawArguments()[0], (long[]) call.getRawArguments()[1], 0));
        doAnswer(call -> {
                    RawShape shape = call.getArgument(2);
                    memory.copy(
                            call.getArgument(0),
                            call.getArgument(1),
                            shape.count() * shape.dataType().byteSize());
                    return null;
                })
                .when(nccl)
                .copy(anyLong(), anyLong(), any(), anyLong());
        doAnswer(call -> perform(memory, call.getArgument(0))).when(nccl).run(any(), any(CallOptions.class));
        when(nccl.submit(any(Collective.class), any(CallOptions.class))).thenAnswer(call -> {
            perform(memory, call.getArgument(0));
            return Done.well();
        });
        when(nccl.submit(any(Message.class), any(CallOptions.class))).thenReturn(Done.well());
        return nccl;
    }

    /** What a call of the view makes of an element of its input. */
    static float written(float given) {
        return 1 - given;
    }

    private static Object perform(HeapDevice memory, Collective call) {
        DeviceTensor in = (DeviceTensor) call.in();
        DeviceTensor out = (DeviceTensor) call.out();
        if (in != null && out != null && in != out) {
            float[] values = memory.floats(in);
            float[] result = new float[Math.toIntExact(Math.min(in.elementCount(), out.elementCount()))];
            for (int at = 0; at < result.length; at++) {
                result[at] = written(values[at]);
            }
            memory.write(out, result);
        }
        return null;
    }
}
