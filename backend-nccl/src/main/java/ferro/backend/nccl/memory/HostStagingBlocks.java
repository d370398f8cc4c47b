package ferro.backend.nccl.memory;

import ferro.DataType;
import ferro.DeviceTensor;
import ferro.backend.nccl.ffi.Cuda;
import ferro.backend.nccl.ffi.PointerConverter;
import ferro.backend.nccl.ffi.ResultChecker;
import ferro.dispatch.DeviceMemory;
import ferro.dispatch.GpuCollectives;
import java.nio.ByteBuffer;

/**
 * Staging memory for copies between host tensors and a device: one input and one output block in host memory, and the
 * same in device memory. Later calls reuse the blocks, so that they allocate no native memory. One job at a time owns
 * the blocks. Only the device thread may call the methods, except {@link #close}.
 */
public final class HostStagingBlocks implements AutoCloseable {
    private static final int SMALLEST_BYTES = 1 << 16;

    private final DeviceMemory memory;
    private final int device;
    private final int mostBytes;
    private StagingPair in;
    private StagingPair out;
    private DeviceTensor cell;
    private Object owner;

    /** One block in host memory and one in device memory. */
    private record StagingPair(DeviceMemory.Staging host, DeviceTensor onDevice) {
        void close() {
            host.close();
            GpuCollectives.free(onDevice);
        }
    }

    /**
     * Creates an object without blocks. All ranks need the same maximum block size, because it determines the pieces
     * into which calls are cut.
     */
    public HostStagingBlocks(DeviceMemory memory, int device, int mostBytes) {
        this.memory = memory;
        this.device = device;
        this.mostBytes = mostBytes;
    }

    /** Returns the maximum size of a block. */
    public int mostBytes() {
        return mostBytes;
    }

    /** Makes a job the owner of the blocks, unless another job owns them. Returns whether the job is now the owner. */
    public boolean claim(Object job) {
        if (owner == null) {
            owner = job;
        }
        return owner == job;
    }

    /** Ends the ownership of a job, if the job owns the blocks. */
    public void release(Object job) {
        if (owner == job) {
            owner = null;
        }
    }

    /**
     * Makes the blocks at least as big as given. Returns whether new blocks were allocated. New blocks do not have the
     * old content.
     */
    public boolean ensure(long bytes) {
        if (in != null && in.onDevice.byteCount() >= bytes) {
            return false;
        }
        freeSides();
        long doubled = Math.max(SMALLEST_BYTES, Long.highestOneBit(Math.max(1, bytes - 1)) << 1);
        int size = (int) Math.max(bytes, Math.min(doubled, mostBytes));
        StagingPair fresh = side(size);
        try {
            out = side(size);
        } catch (RuntimeException | Error failure) {
            fresh.close();
            throw failure;
        }
        in = fresh;
        return true;
    }

    private StagingPair side(int bytes) {
        DeviceTensor onDevice = memory.allocate(DataType.INT8, new long[] {bytes}, device);
        try {
            return new StagingPair(memory.stage(bytes), onDevice);
        } catch (RuntimeException | Error failure) {
            GpuCollectives.free(onDevice);
            throw failure;
        }
    }

    /** Returns the host memory that is copied to the device. */
    public ByteBuffer toDevice() {
        return in.host.buffer();
    }

    /** Returns the host memory that receives data from the device. */
    public ByteBuffer fromDevice() {
        return out.host.buffer();
    }

    /** Returns the address of the device memory that native calls read. */
    public long in() {
        return in.onDevice.address();
    }

    /** Returns the address of the device memory that native calls write. */
    public long out() {
        return out.onDevice.address();
    }

    /** Queues a copy from host memory to the device. */
    public void upload(int bytes, long stream) {
        long from = PointerConverter.address(in.host.buffer());
        ResultChecker.cuda(Cuda.cudaMemcpyAsync(in(), from, bytes, Cuda.HOST_TO_DEVICE, stream), "cudaMemcpyAsync H2D");
    }

    /**
     * Queues a copy from the device to host memory. {@code from} is the address of the output block or, if a call works
     * in place, of the input block.
     */
    public void download(long from, int bytes, long stream) {
        long to = PointerConverter.address(out.host.buffer());
        ResultChecker.cuda(Cuda.cudaMemcpyAsync(to, from, bytes, Cuda.DEVICE_TO_HOST, stream), "cudaMemcpyAsync D2H");
    }

    /** Returns the address of one element of device memory for a barrier, which does not use its value. */
    public long cell() {
        if (cell == null) {
            cell = memory.allocate(DataType.FLOAT32, new long[] {1}, device);
        }
        return cell.address();
    }

    private void freeSides() {
        if (in != null) {
            in.close();
            in = null;
        }
        if (out != null) {
            out.close();
            out = null;
        }
    }

    /** Frees the blocks. The streams that use the blocks must have finished. */
    @Override
    public void close() {
        freeSides();
        if (cell != null) {
            GpuCollectives.free(cell);
            cell = null;
        }
    }
}
