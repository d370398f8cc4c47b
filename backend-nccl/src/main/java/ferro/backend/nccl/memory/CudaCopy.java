package ferro.backend.nccl.memory;

import ferro.DeviceTensor;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.Tensor;
import ferro.backend.nccl.CudaException;
import ferro.backend.nccl.queue.DeviceCall;
import ferro.dispatch.DeviceMemory;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;

/**
 * A copy that the thread of a device makes, and the handle by which the caller waits for it. Source and destination
 * stay reachable until the copy is complete.
 */
final class CudaCopy extends DeviceCall<Void> implements DeviceMemory.Copy {
    private final DeviceMemoryResources lane;
    private final RawCopy copy;
    /** Tensors of the copy. Referenced here so that their owners stay reachable until the copy is complete. */
    private final List<DeviceTensor> tensors;

    @SuppressWarnings("unused")
    private final ByteBuffer host;

    private final TensorLeases use;
    private long done;

    /**
     * Prepares a copy of at least one byte, between two tensors, or between a tensor and a host buffer.
     *
     * @throws IllegalStateException if the memory of a tensor has been released
     */
    CudaCopy(DeviceMemoryResources lane, RawCopy copy, List<DeviceTensor> tensors, ByteBuffer host) {
        this.lane = lane;
        this.copy = copy;
        this.tensors = tensors;
        this.host = host;
        this.use = TensorLeases.of(tensors.toArray(Tensor[]::new));
    }

    @Override
    public boolean await(Duration timeout) {
        try {
            if (!await(lane.deadline(timeout))) {
                return false;
            }
            result();
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new FerroException(
                    Code.INTERRUPTED,
                    Where.of("", -1),
                    "the wait for " + name() + " was interrupted; the copy continues",
                    e);
        } catch (CudaException e) {
            throw e.during(Where.of("", -1), name());
        }
    }

    private String name() {
        return copy.direction() + " copy of " + copy.bytes() + " bytes on device " + lane.device();
    }

    @Override
    protected boolean issue() {
        try {
            done = lane.issue(copy);
            return true;
        } catch (RuntimeException e) {
            use.end();
            throw e;
        }
    }

    @Override
    protected boolean over() {
        try {
            boolean over = lane.passed(done);
            if (over) {
                use.end();
            }
            return over;
        } catch (RuntimeException e) {
            use.end();
            throw e;
        }
    }
}
