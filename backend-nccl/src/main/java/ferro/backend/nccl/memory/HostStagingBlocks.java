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
 * Memory between host tensors and the device: one input and one output block on each side. The blocks are kept from
 * call to call, so that later calls allocate nothing natively. One job at a time owns the stage. Only for the device
 * thread, except {@link #close}.
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

    /** Creates an empty stage. All ranks need the same maximum block size, because calls are cut into such blocks. */
    public HostStagingBlocks(DeviceMemory memory, int device, int mostBytes) {
        this.memory = memory;
        this.device = device;
        this.mostBytes = mostBytes;
    }

    /** Returns the maximum size of a block. */
    public int mostBytes() {
        return mostBytes;
    }

    /** Takes the stage, unless another job owns it. Returns whether the job owns it now. */
    public boolean claim(Object job) {
        if (owner == null) {
            owner = job;
        }
        return owner == job;
    }

    /** Gives the stage back, if the job owns it. */
    public void release(Object job) {
        if (owner == job) {
            owner = null;
        }
    }

    /** Makes both blocks at least this big. Returns whether the blocks are new. New blocks lose the old content. */
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

    /** Returns the device memory that native calls read. */
    public long in() {
        return in.onDevice.address();
    }

    /** Returns the device memory that native calls write. */
    public long out() {
        return out.onDevice.address();
    }

    /** Queues a copy from host memory to the device. */
    public void upload(int bytes, long stream) {
        long from = PointerConverter.address(in.host.buffer());
        ResultChecker.cuda(Cuda.cudaMemcpyAsync(in(), from, bytes, Cuda.HOST_TO_DEVICE, stream), "cudaMemcpyAsync H2D");
    }

    /** Queues a copy to the host from the output block or, if a call works in place, from the input block. */
    public void download(long from, int bytes, long stream) {
        long to = PointerConverter.address(out.host.buffer());
        ResultChecker.cuda(Cuda.cudaMemcpyAsync(to, from, bytes, Cuda.DEVICE_TO_HOST, stream), "cudaMemcpyAsync D2H");
    }

    /** Returns one element of device memory for a barrier. The value of the element is not used. */
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
