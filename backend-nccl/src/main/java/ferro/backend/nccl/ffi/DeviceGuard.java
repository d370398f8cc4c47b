package ferro.backend.nccl.ffi;

import ferro.backend.nccl.CudaException;
import ferro.spi.PlainLoggers;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.function.IntSupplier;

/**
 * Makes a device current for one native call on a thread that ferro does not own, and restores the thread's device.
 *
 * <p>On a virtual thread nothing may block in between. Otherwise the call runs on another carrier thread with another
 * device. Longer work belongs on a thread of the device.
 */
public final class DeviceGuard {
    private static final Logger LOG = PlainLoggers.logger("ferro.backend.nccl");

    private DeviceGuard() {}

    /**
     * Makes one native call with a device current, and returns its unchecked result code. The earlier device is current
     * again afterwards, whatever the call returned.
     *
     * @throws CudaException if the device does not exist; the current device stays
     */
    public static int call(int device, IntSupplier call) {
        int[] before = new int[1];
        ResultChecker.cuda(Cuda.cudaGetDevice(before), "cudaGetDevice");
        if (before[0] == device) {
            return call.getAsInt();
        }
        ResultChecker.cuda(Cuda.cudaSetDevice(device), "cudaSetDevice");
        try {
            return call.getAsInt();
        } finally {
            restore(before[0]);
        }
    }

    /** Restores the current device. Only logs a failure, which must not hide the result of a call that allocated. */
    private static void restore(int device) {
        int code = Cuda.cudaSetDevice(device);
        if (code != Cuda.SUCCESS) {
            LOG.log(
                    Level.WARNING,
                    "the current device could not be restored",
                    ResultChecker.cudaFailure(code, "cudaSetDevice"));
        }
    }
}
