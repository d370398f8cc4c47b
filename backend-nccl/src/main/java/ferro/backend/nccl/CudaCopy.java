package ferro.backend.nccl;

import ferro.DeviceTensor;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.Tensor;
import ferro.dispatch.DeviceMemory;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;

/** A copy on its way: the task on the device's thread, and what its caller holds. Both sides stay reachable until it is done. */
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
     * @param copy   addresses, not zero bytes
     * @param tensor one or two, kept until it is done
     * @param host   buffer to keep, or null
     * @throws IllegalStateException if the memory of a tensor has been given back
     */
    static CudaCopy start(DeviceLane lane, RawCopy copy, List<DeviceTensor> tensor, ByteBuffer host) {
        Task task = new Task(lane, copy, tensor, host);
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
                    Code.INTERRUPTED, Where.outside("", -1), name() + " goes on, the wait for it was interrupted", e);
        } catch (CudaException e) {
            throw e.during(Where.outside("", -1), name());
        }
    }

    private String name() {
        return copy.direction() + " copy of " + copy.bytes() + " bytes on device " + lane.device();
    }

    /** What the thread does. */
    private static final class Task implements DeviceTask<Void> {
        private final DeviceLane lane;
        private final RawCopy copy;
        /** Foreign owners and the host buffer: only kept. */
        private final List<DeviceTensor> tensors;

        @SuppressWarnings("unused")
        private final ByteBuffer host;

        private final MemoryUse use;
        private long done;

        Task(DeviceLane lane, RawCopy copy, List<DeviceTensor> tensors, ByteBuffer host) {
            this.lane = lane;
            this.copy = copy;
            this.tensors = tensors;
            this.host = host;
            this.use = MemoryUse.of(tensors.toArray(Tensor[]::new));
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

        @Override
        public Void result() {
            return null;
        }
    }
}
