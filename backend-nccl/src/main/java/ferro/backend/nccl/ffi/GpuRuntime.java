package ferro.backend.nccl.ffi;

import com.sun.jna.FunctionMapper;
import java.util.Map;

/** The runtime: CUDA, or HIP, which has the same functions under another prefix. No other table has these names. */
public enum GpuRuntime {
    /** NVIDIA's. */
    CUDA("cuda", Map.of()),
    /** AMD's, in which two functions have other names. Source: hip_runtime_api.h. */
    HIP("hip", Map.of("cudaHostAlloc", "hipHostMalloc", "cudaFreeHost", "hipHostFree"));

    private static final String OURS = "cuda";

    private final String prefix;
    private final Map<String, String> exceptions;
    /** A single object, so that JNA gets the same options again and finds the library that it has opened. */
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

    /** {@return the mapper from ferro's names to those of the library, for the library's options} */
    public FunctionMapper mapper() {
        return mapper;
    }
}
