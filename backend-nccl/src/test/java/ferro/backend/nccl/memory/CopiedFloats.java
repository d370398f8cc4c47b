package ferro.backend.nccl.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.DeviceTensor;
import ferro.dispatch.DeviceMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.function.Executable;

/** Float tensors that are written and read through the memory that is tested. */
final class CopiedFloats {
    private static final Duration LONG = Duration.ofSeconds(30);

    private CopiedFloats() {}

    static DeviceTensor floats(DeviceMemory memory, int device, float... values) {
        DeviceTensor tensor = memory.allocate(DataType.FLOAT32, new long[] {values.length}, device);
        assertTrue(memory.toDevice(buffer(values), tensor).await(LONG));
        return tensor;
    }

    static ByteBuffer buffer(float... values) {
        ByteBuffer buffer = room(values.length);
        buffer.asFloatBuffer().put(values);
        return buffer;
    }

    static ByteBuffer room(int floats) {
        return ByteBuffer.allocateDirect(4 * floats).order(ByteOrder.nativeOrder());
    }

    static float[] read(DeviceMemory memory, DeviceTensor tensor) {
        ByteBuffer buffer = room((int) tensor.elementCount());
        assertTrue(memory.toHost(tensor, buffer).await(LONG));
        float[] values = new float[(int) tensor.elementCount()];
        buffer.asFloatBuffer().get(values);
        return values;
    }

    static void free(DeviceTensor tensor) {
        try {
            ((AutoCloseable) tensor.owner()).close();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    static void assertValues(float[] found, float... wanted) {
        assertEquals(List.of(boxed(wanted)), List.of(boxed(found)));
    }

    private static Float[] boxed(float[] values) {
        Float[] boxed = new Float[values.length];
        for (int i = 0; i < values.length; i++) {
            boxed[i] = values[i];
        }
        return boxed;
    }

    static void refused(Executable call, String... tokens) {
        String message = assertThrows(IllegalArgumentException.class, call).getMessage();
        for (String token : tokens) {
            assertTrue(message.contains(token), message);
        }
    }
}
