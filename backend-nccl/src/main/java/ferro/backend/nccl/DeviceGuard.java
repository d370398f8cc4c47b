package ferro.backend.nccl;

import ferro.backend.nccl.ffi.Cuda;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.function.IntSupplier;

/**
 * Makes a device current for one native call on a thread that is not ours, and gives the thread its own one back.
 *
 * <p>On a virtual thread nothing may block in between, or the call lands on another carrier with another device; longer
 * work belongs on a {@link DeviceThread}.
 */
final class DeviceGuard {
    private static final Logger LOG = System.getLogger("ferro.backend.nccl");

    private DeviceGuard() {}

    /**
     * Makes a call with a device current. The earlier device is current again when it returns, whatever it answered.
     *
     * @param device ordinal
     * @param call   one native call
     * @return its answer, not checked
     * @throws CudaException if there is no such device; the current one stays
     */
    static int call(int device, IntSupplier call) {
        int[] before = new int[1];
        Checks.cuda(Cuda.cudaGetDevice(before), "cudaGetDevice");
        if (before[0] == device) {
            return call.getAsInt();
        }
        Checks.cuda(Cuda.cudaSetDevice(device), "cudaSetDevice");
        try {
            return call.getAsInt();
        } finally {
            restore(before[0]);
        }
    }

    /** A failure must not hide the answer of the call, which may have made something. */
    private static void restore(int device) {
        int code = Cuda.cudaSetDevice(device);
        if (code != Cuda.SUCCESS) {
            LOG.log(
                    Level.WARNING,
                    "the current device could not be restored",
                    Checks.cudaFailure(code, "cudaSetDevice"));
        }
    }
}
