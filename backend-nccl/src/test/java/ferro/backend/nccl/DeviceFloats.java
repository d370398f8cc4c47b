package ferro.backend.nccl;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.backend.nccl.device.CudaStream;
import ferro.backend.nccl.ffi.Cuda;
import ferro.backend.nccl.ffi.DeviceGuard;
import ferro.backend.nccl.ffi.ResultChecker;
import java.util.Arrays;

/** A float tensor on a device, with copies that wait. */
public final class DeviceFloats implements AutoCloseable {
    private final DeviceTensor tensor;

    private DeviceFloats(DeviceTensor tensor) {
        this.tensor = tensor;
    }

    public static DeviceFloats of(int device, float... values) {
        long[] address = new long[1];
        check(DeviceGuard.call(device, () -> Cuda.cudaMalloc(address, Math.max(4L, 4L * values.length))), "cudaMalloc");
        DeviceFloats made = new DeviceFloats(
                new DeviceTensor(DataType.FLOAT32, new long[] {values.length}, address[0], device, null));
        made.write(values);
        return made;
    }

    public static DeviceFloats filled(int device, int count, float value) {
        float[] values = new float[count];
        Arrays.fill(values, value);
        return of(device, values);
    }

    public DeviceTensor tensor() {
        return tensor;
    }

    public void write(float... values) {
        try (Memory host = new Memory(Math.max(4L, 4L * values.length))) {
            host.write(0, values, 0, values.length);
            copy(tensor.address(), Pointer.nativeValue(host), Cuda.HOST_TO_DEVICE);
        }
    }

    public float[] read() {
        int count = (int) tensor.elementCount();
        try (Memory host = new Memory(Math.max(4L, 4L * count))) {
            copy(Pointer.nativeValue(host), tensor.address(), Cuda.DEVICE_TO_HOST);
            return host.getFloatArray(0, count);
        }
    }

    /** Reads another tensor of the same device. */
    public static float[] read(DeviceTensor other, DeviceFloats into) {
        into.copy(into.tensor.address(), other.address(), Cuda.DEVICE_TO_DEVICE);
        return into.read();
    }

    /** Copies on a stream of its own, so that nothing is waited for by chance. */
    private void copy(long to, long from, int kind) {
        try (CudaStream stream = CudaStream.create(tensor.device())) {
            check(Cuda.cudaMemcpyAsync(to, from, tensor.byteCount(), kind, stream.handle()), "cudaMemcpyAsync");
            check(Cuda.cudaStreamSynchronize(stream.handle()), "cudaStreamSynchronize");
        }
    }

    /** Queues a copy that fills a tensor, on a stream, and waits for nothing. */
    public static void queue(DeviceTensor to, long from, int kind, long stream) {
        check(
                DeviceGuard.call(
                        to.device(), () -> Cuda.cudaMemcpyAsync(to.address(), from, to.byteCount(), kind, stream)),
                "cudaMemcpyAsync");
    }

    public static int currentDevice() {
        int[] device = new int[1];
        check(Cuda.cudaGetDevice(device), "cudaGetDevice");
        return device[0];
    }

    private static void check(int code, String call) {
        ResultChecker.cuda(code, call);
    }

    @Override
    public void close() {
        check(Cuda.cudaFree(tensor.address()), "cudaFree");
    }
}
