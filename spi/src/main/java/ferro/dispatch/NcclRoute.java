package ferro.dispatch;

import ferro.CallOptions;
import ferro.Collective;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.Message;
import ferro.NcclBackend;
import ferro.NcclBackend.RawShape;
import ferro.Work;
import java.util.Arrays;

/**
 * The fast path from device to device, without copies to the host. A call that fails on this path is not tried again on
 * another route.
 *
 * @param nccl back end of the device
 */
record NcclRoute(NcclBackend nccl) implements Route {
    private static final long DEFAULT_STREAM = 0;

    @Override
    public void run(Collective call, CallOptions options) {
        nccl.run(call, options);
    }

    @Override
    public Work submit(Collective call, CallOptions options) {
        return nccl.submit(call, options);
    }

    @Override
    public Work transfer(Message message, CallOptions options) {
        return nccl.submit(message, options);
    }

    @Override
    public DeviceTensor allocate(String operation, DataType dataType, long[] shape) {
        try {
            return nccl.allocate(dataType, shape);
        } catch (RuntimeException failure) {
            throw cloneFailed(operation, "no memory for a fresh " + dataType.label() + Arrays.toString(shape), failure);
        }
    }

    /**
     * Queues a copy on the stream of the collective. The copy starts after the work that is now in the caller's default
     * stream.
     */
    @Override
    public void copy(String operation, DeviceTensor from, DeviceTensor to) {
        try {
            long stream = nccl.stream();
            nccl.waitFor(DEFAULT_STREAM, stream);
            nccl.copy(from.address(), to.address(), new RawShape(from.elementCount(), from.dataType()), stream);
        } catch (RuntimeException failure) {
            throw cloneFailed(operation, "cannot copy " + from, failure);
        }
    }

    private IllegalArgumentException cloneFailed(String operation, String what, RuntimeException cause) {
        return new IllegalArgumentException(
                operation + " on rank " + nccl.rank() + ": D2D clone failed: " + what + " on device " + nccl.device()
                        + ": " + cause.getMessage() + ": free tensors, or use a form that works in place",
                cause);
    }
}
