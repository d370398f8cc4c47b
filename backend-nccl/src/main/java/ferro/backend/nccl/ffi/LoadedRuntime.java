package ferro.backend.nccl.ffi;

/**
 * The CUDA or HIP runtime that this process has loaded and never unloads.
 *
 * @param path    file
 * @param prefix  CUDA or HIP, with the prefix of the functions
 * @param version version code, for example 13000
 */
public record LoadedRuntime(String path, GpuRuntime prefix, int version) {
    /** Converts the version code of a runtime or driver to the usual form, for example 12040 to 12.4. */
    public static String release(int code) {
        // CUDART_VERSION of cuda_runtime_api.h: major * 1000 + minor * 10
        return code / 1000 + "." + code % 1000 / 10;
    }
}
