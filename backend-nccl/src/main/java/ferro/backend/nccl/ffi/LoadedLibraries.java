package ferro.backend.nccl.ffi;

import ferro.backend.nccl.NcclVersion;
import java.util.Set;

/**
 * The two libraries that this process has loaded and never unloads.
 *
 * @param nccl           file of NCCL or RCCL
 * @param runtime        file of the CUDA or HIP runtime
 * @param prefix         function names of the runtime, CUDA or HIP
 * @param version        release of NCCL
 * @param runtimeVersion code of the runtime, for example 13000
 * @param capabilities   newer functions that this NCCL has
 */
public record LoadedLibraries(
        String nccl,
        String runtime,
        RuntimePrefix prefix,
        NcclVersion version,
        int runtimeVersion,
        Set<NcclCapability> capabilities) {
    /** Copies the set. */
    public LoadedLibraries {
        capabilities = Set.copyOf(capabilities);
    }

    /** Returns whether all functions of a group of newer ones are available. */
    public boolean has(NcclCapability capability) {
        return capabilities.contains(capability);
    }
}
