package ferro.backend.nccl.ffi;

import ferro.backend.nccl.CudaException;
import ferro.spi.PlainLoggers;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.function.IntSupplier;

/**
 * Makes a device current for one native call on a thread of the program, and then restores the thread's device.
 *
 * <p>On a virtual thread, nothing may block between the change of the device and its restoration. Otherwise the call
 * or the restoration may run on another carrier thread, with another device. Longer work belongs on a thread of the
 * device.
 */
public final class DeviceGuard {
    private static final Logger LOG = PlainLoggers.logger("ferro.backend.nccl");

    private DeviceGuard() {}

    /**
     * Makes one native call while the given device is current, and returns the unchecked result code. Afterwards the
     * earlier device is current again, even if the call has failed.
     *
     * @throws CudaException if the device does not exist; the current device is then unchanged
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

    /**
     * Restores the current device. Only logs a failure, because the caller needs the result of its call, which may have
     * allocated memory.
     */
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
