package ferro.backend.nccl.memory;

import static ferro.harness.Says.assertRefused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.DeviceTensor;
import ferro.dispatch.DeviceMemory;
import ferro.harness.Says;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;

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

    static void assertValues(float[] found, float... wanted) {
        assertArrayEquals(wanted, found);
    }

    static void refused(Says.Call call, String... tokens) {
        assertRefused(IllegalArgumentException.class, call, tokens);
    }
}
