package ferro.backend.nccl.comm;

import ferro.FerroException;
import ferro.backend.nccl.DeviceFloats;
import ferro.backend.nccl.ffi.Cuda;
import ferro.backend.nccl.ffi.StandIn;
import ferro.backend.nccl.queue.CommIdentity;
import java.util.Optional;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Runs tests only where at least two devices can run a kernel of NCCL: an old model of GPU is counted, and cannot. After
 * {@link StandIn}, which says which libraries are meant.
 */
final class TwoDevices implements ExecutionCondition {
    private static final int NEEDED = 2;

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        if (context.getTestMethod().isPresent()) {
            return ConditionEvaluationResult.enabled("its class has been looked at");
        }
        StandIn.load();
        return skipBecause()
                .map(ConditionEvaluationResult::disabled)
                .orElse(ConditionEvaluationResult.enabled(NEEDED + " devices can run kernels"));
    }

    /** Returns why tests on two devices cannot run here. */
    static Optional<String> skipBecause() {
        int[] count = new int[1];
        int code = Cuda.cudaGetDeviceCount(count);
        if (code != Cuda.SUCCESS || count[0] < NEEDED) {
            String found = code == Cuda.SUCCESS ? count[0] + " devices" : "CUDA error " + code;
            return Optional.of("needs " + NEEDED + " devices, found " + found + ": skipping");
        }
        for (int device = 0; device < NEEDED; device++) {
            Optional<String> unfit = unfit(device);
            if (unfit.isPresent()) {
                return unfit;
            }
        }
        return Optional.empty();
    }

    /** The average of one rank is a kernel; the sum would be nothing at all. */
    private static Optional<String> unfit(int device) {
        CommFactory factory = Worlds.factory();
        CommIdentity identity = new CommIdentity("gate", 0, 1, device);
        try (DeviceFloats values = DeviceFloats.of(device, 3f);
                Communicator comm = factory.rank(identity, NcclUniqueId.made(), Worlds.plenty())) {
            comm.run(Worlds.average(values, Cuda.DEFAULT_STREAM), Worlds.plenty());
            return Optional.empty();
        } catch (FerroException e) {
            return Optional.of("device " + device + " cannot run compute kernels (" + e.getMessage() + "): skipping");
        }
    }
}
