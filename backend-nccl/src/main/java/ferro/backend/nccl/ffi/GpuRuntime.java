package ferro.backend.nccl.ffi;

import com.sun.jna.FunctionMapper;
import java.util.Map;

/** The kinds of GPU runtime: CUDA, and HIP, whose functions have another prefix. No other class has these names. */
public enum GpuRuntime {
    /** The CUDA runtime of NVIDIA. */
    CUDA("cuda", Map.of()),
    /** The HIP runtime of AMD. Two of its functions have other names. Source: hip_runtime_api.h. */
    HIP("hip", Map.of("cudaHostAlloc", "hipHostMalloc", "cudaFreeHost", "hipHostFree"));

    private static final String OURS = "cuda";

    private final String prefix;
    private final Map<String, String> exceptions;
    /** A single object, because JNA finds a library that it has opened only with the same options. */
    private final FunctionMapper mapper = (library, method) -> nameOf(method.getName());

    GpuRuntime(String prefix, Map<String, String> exceptions) {
        this.prefix = prefix;
        this.exceptions = exceptions;
    }

    /**
     * {@return the name of a function in this runtime, for example {@code hipMalloc}}
     *
     * @param function CUDA's name, for example {@code cudaMalloc}; other names do not change
     */
    public String nameOf(String function) {
        String other = exceptions.get(function);
        if (other != null || !function.startsWith(OURS)) {
            return other == null ? function : other;
        }
        return prefix + function.substring(OURS.length());
    }

    /** {@return the mapper for JNA's options, from CUDA's function names to those of this runtime} */
    public FunctionMapper mapper() {
        return mapper;
    }
}
