package ferro.dispatch;

import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.Message;
import ferro.Work;
import ferro.spi.Deadlines;
import java.time.Duration;

/**
 * The slow path through host memory. The settings have allowed the call, and the warning has been logged.
 *
 * @param slow     device memory and settings
 * @param fallback fallback that copies the tensors and runs the call
 * @param host     back end for the host tensors
 * @param device   device of fresh results
 */
record HostRoute(HostFallbackPath slow, HostFallback fallback, CollectiveBackend host, int device) implements Route {
    @Override
    public void run(Collective call, CallOptions options) {
        submit(call, options).await();
    }

    @Override
    public Work submit(Collective call, CallOptions options) {
        return fallback.submit(call, host, slow.context(), options);
    }

    @Override
    public Work transfer(Message message, CallOptions options) {
        return fallback.transfer(message, host, slow.context(), options);
    }

    @Override
    public DeviceTensor allocate(String operation, DataType dataType, long[] shape) {
        return slow.memory().allocate(dataType, shape, device);
    }

    /** Copies a tensor and waits until the copy has ended, since the round trip reads the copy from another stream. */
    @Override
    public void copy(String operation, DeviceTensor from, DeviceTensor to) {
        Duration bound = host.timeout();
        if (!slow.memory().onDevice(from, to).await(bound)) {
            throw new FerroException(
                    Code.TIMED_OUT,
                    Where.of("", host.rank()),
                    operation + " on rank " + host.rank() + ": the copy of " + from + " took more than "
                            + Deadlines.millis(bound) + " ms: check whether the device is busy or hangs");
        }
    }
}
