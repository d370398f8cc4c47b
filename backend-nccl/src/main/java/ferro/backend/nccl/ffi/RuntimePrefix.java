package ferro.backend.nccl.ffi;

import com.sun.jna.FunctionMapper;
import java.util.Map;

/** Which runtime is below: CUDA, or HIP with the same functions under another prefix. The one table of names. */
public enum RuntimePrefix {
    /** NVIDIA's. */
    CUDA("cuda", Map.of()),
    /** AMD's; two functions have names of their own there. Source: hip_runtime_api.h. */
    HIP("hip", Map.of("cudaHostAlloc", "hipHostMalloc", "cudaFreeHost", "hipHostFree"));

    private static final String OURS = "cuda";

    private final String prefix;
    private final Map<String, String> exceptions;
    /** One object, so that JNA sees the same options again and finds what it has opened. */
    private final FunctionMapper mapper = (library, method) -> nameOf(method.getName());

    RuntimePrefix(String prefix, Map<String, String> exceptions) {
        this.prefix = prefix;
        this.exceptions = exceptions;
    }

    /**
     * Returns what a function is called in this runtime.
     *
     * @param function CUDA's name, for example {@code cudaMalloc}; other names stay
     * @return for example {@code hipMalloc}
     */
    public String nameOf(String function) {
        String other = exceptions.get(function);
        if (other != null || !function.startsWith(OURS)) {
            return other == null ? function : other;
        }
        return prefix + function.substring(OURS.length());
    }

    /**
     * Returns what turns names of ours into the library's.
     *
     * @return mapper for the library's options
     */
    public FunctionMapper mapper() {
        return mapper;
    }
}
