package ferro.dispatch;

import ferro.DataType;
import ferro.DeviceTensor;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/** Device memory on the heap; addresses mean nothing to the host, and what is allocated is counted. */
final class HeapDevice implements DeviceMemory {
    private static final long STEP = 1L << 32;

    private final Map<Long, byte[]> memory = new HashMap<>();
    private long next = STEP;
    private boolean exhausted;

    /** Makes every further allocation fail. */
    void exhaust() {
        exhausted = true;
    }

    int live() {
        return memory.size();
    }

    DeviceTensor tensor(long[] shape, float... values) {
        DeviceTensor tensor = allocate(DataType.FLOAT32, shape, 0);
        bytes(tensor).asFloatBuffer().put(values);
        return tensor;
    }

    float[] floats(DeviceTensor tensor) {
        float[] values = new float[Math.toIntExact(tensor.elementCount())];
        bytes(tensor).asFloatBuffer().get(values);
        return values;
    }

    void write(DeviceTensor tensor, float... values) {
        bytes(tensor).asFloatBuffer().put(values);
    }

    void copy(long from, long to, long bytes) {
        System.arraycopy(memory.get(from), 0, memory.get(to), 0, Math.toIntExact(bytes));
    }

    @Override
    public DeviceTensor allocate(DataType dataType, long[] shape, int device) {
        if (exhausted) {
            throw new FerroException(Code.RESOURCE, Where.of("", 0), "out of memory on device " + device);
        }
        long address = next;
        next += STEP;
        AutoCloseable owner = () -> memory.remove(address);
        DeviceTensor tensor = new DeviceTensor(dataType, shape, address, device, owner);
        byte[] garbage = new byte[Math.toIntExact(tensor.byteCount())];
        Arrays.fill(garbage, (byte) 0xA5);
        memory.put(address, garbage);
        return tensor;
    }

    @Override
    public Copy onDevice(DeviceTensor from, DeviceTensor to) {
        copy(from.address(), to.address(), from.byteCount());
        return (Duration timeout) -> true;
    }

    @Override
    public Staging stage(int bytes) {
        throw new UnsupportedOperationException("no staging of " + bytes + " bytes here");
    }

    @Override
    public Copy toHost(DeviceTensor from, ByteBuffer to) {
        throw new UnsupportedOperationException("no copy of " + from + " here");
    }

    @Override
    public Copy toDevice(ByteBuffer from, DeviceTensor to) {
        throw new UnsupportedOperationException("no copy to " + to + " here");
    }

    @Override
    public void close() {
        // the heap needs nothing
    }

    private ByteBuffer bytes(DeviceTensor tensor) {
        byte[] all = memory.get(tensor.address());
        if (all == null) {
            throw new IllegalStateException(tensor + " is freed");
        }
        return ByteBuffer.wrap(all).order(ByteOrder.nativeOrder());
    }
}
