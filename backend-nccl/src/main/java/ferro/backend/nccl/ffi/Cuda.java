package ferro.backend.nccl.ffi;

/**
 * Functions of the CUDA runtime, in the order of cuda_runtime_api.h. HIP has the same functions with another prefix
 * ({@link GpuRuntime}). {@code LibraryLoader} must bind the functions before the first call.
 *
 * <p>Streams, events and pointers are longs; an out-parameter is an array of one element. The current device and the
 * last error belong to the calling OS thread.
 */
public final class Cuda {
    /** {@code cudaSuccess}. */
    public static final int SUCCESS = 0;
    /** {@code cudaErrorInsufficientDriver}. */
    public static final int INSUFFICIENT_DRIVER = 35;
    /** {@code cudaErrorNoDevice}. */
    public static final int NO_DEVICE = 100;
    /** {@code cudaErrorNotReady}: the result of a query while work is in progress. */
    public static final int NOT_READY = 600;
    /** {@code cudaMemcpyHostToDevice}. */
    public static final int HOST_TO_DEVICE = 1;
    /** {@code cudaMemcpyDeviceToHost}. */
    public static final int DEVICE_TO_HOST = 2;
    /** {@code cudaMemcpyDeviceToDevice}. */
    public static final int DEVICE_TO_DEVICE = 3;
    /** {@code cudaStreamNonBlocking}: a stream with this flag does not wait for the default stream. */
    public static final int STREAM_NON_BLOCKING = 1;
    /** {@code cudaEventDisableTiming}: an event without time stamps, which is cheaper to record. */
    public static final int EVENT_DISABLE_TIMING = 2;
    /** The default stream. */
    public static final long DEFAULT_STREAM = 0;

    private Cuda() {}

    public static native int cudaGetLastError();

    public static native String cudaGetErrorName(int code);

    public static native String cudaGetErrorString(int code);

    public static native int cudaGetDeviceCount(int[] count);

    public static native int cudaSetDevice(int device);

    public static native int cudaGetDevice(int[] device);

    public static native int cudaStreamCreateWithFlags(long[] stream, int flags);

    public static native int cudaStreamDestroy(long stream);

    public static native int cudaStreamWaitEvent(long stream, long event, int flags);

    public static native int cudaStreamSynchronize(long stream);

    public static native int cudaStreamQuery(long stream);

    public static native int cudaEventCreateWithFlags(long[] event, int flags);

    public static native int cudaEventRecord(long event, long stream);

    public static native int cudaEventQuery(long event);

    public static native int cudaEventDestroy(long event);

    public static native int cudaMalloc(long[] pointer, long bytes);

    public static native int cudaFree(long pointer);

    public static native int cudaHostAlloc(long[] pointer, long bytes, int flags);

    public static native int cudaFreeHost(long pointer);

    public static native int cudaMemGetInfo(long[] free, long[] total);

    public static native int cudaMemcpyAsync(long to, long from, long bytes, int kind, long stream);

    public static native int cudaDriverGetVersion(int[] version);

    public static native int cudaRuntimeGetVersion(int[] version);
}
