package ferro.backend.nccl;

import ferro.backend.nccl.ffi.NcclCapability;
import ferro.backend.nccl.ffi.RuntimePrefix;
import java.util.Set;

/**
 * The pair of libraries that this process has loaded, for good.
 *
 * @param nccl           file of NCCL or RCCL
 * @param runtime        file of the CUDA or HIP runtime
 * @param prefix         which of the two runtimes
 * @param version        release of NCCL
 * @param runtimeVersion code of the runtime, for example 13000
 * @param capabilities   newer functions that this NCCL has
 */
record LoadedLibraries(
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

    /**
     * Returns whether some newer functions are there.
     *
     * @param capability functions
     * @return true if all of them are
     */
    public boolean has(NcclCapability capability) {
        return capabilities.contains(capability);
    }
}
