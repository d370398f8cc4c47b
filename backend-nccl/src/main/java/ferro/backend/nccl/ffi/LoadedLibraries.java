package ferro.backend.nccl.ffi;

import ferro.backend.nccl.NcclVersion;
import java.util.Set;

/**
 * The two libraries that this process has loaded and never unloads.
 *
 * @param nccl           file of NCCL or RCCL
 * @param runtime        CUDA or HIP runtime that this NCCL uses
 * @param version        release of NCCL
 * @param capabilities   groups of newer functions that this NCCL has
 */
public record LoadedLibraries(
        String nccl, LoadedRuntime runtime, NcclVersion version, Set<NcclCapability> capabilities) {
    /** Copies the set of capabilities. */
    public LoadedLibraries {
        capabilities = Set.copyOf(capabilities);
    }

    /** Returns whether all functions of a capability are available. */
    public boolean has(NcclCapability capability) {
        return capabilities.contains(capability);
    }
}
