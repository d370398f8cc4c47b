package ferro.backend.nccl.memory;

import ferro.DeviceTensor;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.Tensor;
import ferro.backend.nccl.CudaException;
import ferro.backend.nccl.queue.DeviceCall;
import ferro.backend.nccl.queue.DeviceTask;
import ferro.dispatch.DeviceMemory;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;

/**
 * A copy in progress: the task on the device's thread, and the handle of its caller. Source and destination stay
 * reachable until it is done.
 */
final class CudaCopy implements DeviceMemory.Copy {
    private final DeviceCall<Void> call;
    private final RawCopy copy;
    private final DeviceLane lane;

    private CudaCopy(DeviceCall<Void> call, RawCopy copy, DeviceLane lane) {
        this.call = call;
        this.copy = copy;
        this.lane = lane;
    }

    /**
     * Starts a copy.
     *
     * @param lane   of the device
     * @param copy   addresses; not for zero bytes
     * @param tensor one or two tensors, kept reachable until it is done
     * @param host   buffer to keep reachable, or null
     * @throws IllegalStateException if the memory of a tensor has been given back
     */
    static CudaCopy start(DeviceLane lane, RawCopy copy, List<DeviceTensor> tensor, ByteBuffer host) {
        CopyTask task = new CopyTask(lane, copy, tensor, host);
        return new CudaCopy(lane.start(task), copy, lane);
    }

    @Override
    public boolean await(Duration timeout) {
        try {
            if (!call.await(lane.deadline(timeout))) {
                return false;
            }
            call.result();
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

    /** The task on the thread. */
    private static final class CopyTask implements DeviceTask<Void> {
        private final DeviceLane lane;
        private final RawCopy copy;
        /** Kept only so that foreign owners and the host buffer stay reachable. */
        private final List<DeviceTensor> tensors;

        @SuppressWarnings("unused")
        private final ByteBuffer host;

        private final DeviceMemoryUse use;
        private long done;

        CopyTask(DeviceLane lane, RawCopy copy, List<DeviceTensor> tensors, ByteBuffer host) {
            this.lane = lane;
            this.copy = copy;
            this.tensors = tensors;
            this.host = host;
            this.use = DeviceMemoryUse.of(tensors.toArray(Tensor[]::new));
        }

        @Override
        public boolean issue() {
            try {
                done = lane.issue(copy);
                return true;
            } catch (RuntimeException e) {
                use.end();
                throw e;
            }
        }

        @Override
        public boolean over() {
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
}
