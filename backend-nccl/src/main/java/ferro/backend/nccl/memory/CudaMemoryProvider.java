package ferro.backend.nccl.memory;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.backend.nccl.device.NcclAvailability;
import ferro.backend.nccl.ffi.LibraryLoader;
import ferro.backend.nccl.ffi.LibraryLocations;
import ferro.dispatch.DeviceMemory;
import ferro.dispatch.DeviceMemoryProvider;
import ferro.spi.RankContext;
import java.util.Optional;

/** Provides memory of CUDA and HIP devices. Needs only the runtime, not NCCL. */
public final class CudaMemoryProvider implements DeviceMemoryProvider {
    /** Priority above that of simulated devices. */
    private static final int PRIORITY = 10;

    /** Creates the provider without loading the runtime. */
    public CudaMemoryProvider() {}

    @Override
    public String name() {
        return "cuda";
    }

    @Override
    public int priority() {
        return PRIORITY;
    }

    @Override
    public Optional<String> unavailableBecause(RankContext context) {
        return NcclAvailability.noGpuBecause(context).or(() -> NcclAvailability.memoryUnavailableBecause(context));
    }

    @Override
    public DeviceMemory open(RankContext context) {
        LibraryLoader.loadRuntime(LibraryLocations.of(context));
        NcclAvailability.memoryUnavailableBecause(context).ifPresent(reason -> {
            throw new FerroException(Code.NATIVE, Where.of("", -1), "no device memory: " + reason);
        });
        return CudaMemory.open(context);
    }
}
