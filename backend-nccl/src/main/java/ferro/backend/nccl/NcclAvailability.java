package ferro.backend.nccl;

import ferro.backend.nccl.ffi.Checks;
import ferro.backend.nccl.ffi.Cuda;
import ferro.backend.nccl.ffi.LibrarySearch;
import ferro.backend.nccl.ffi.LoadedLibraries;
import ferro.backend.nccl.ffi.LoadedRuntime;
import ferro.backend.nccl.ffi.NativeLibraries;
import ferro.backend.nccl.ffi.NcclCapability;
import ferro.spi.RankContext;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What NCCL is like on this machine, and why it cannot be used where it cannot.
 *
 * <p>Loadable is not usable: usable means that the runtime counts at least one device.
 *
 * @param unavailableBecause why it cannot be used, in words that one can act on; empty if it can
 * @param nccl               file of NCCL, empty if it did not load
 * @param version            release of NCCL
 * @param runtime            file of the CUDA or HIP runtime, empty if it did not load
 * @param devices            number of devices, 0 if unknown
 * @param lacks              newer functions that this NCCL does not have
 */
public record NcclAvailability(
        Optional<String> unavailableBecause,
        String nccl,
        Optional<NcclVersion> version,
        String runtime,
        int devices,
        List<String> lacks) {
    /**
     * Looks, and loads the libraries for good if they are there.
     *
     * @param context settings that may name them
     * @return what was found
     */
    public static NcclAvailability look(RankContext context) {
        LoadedLibraries libraries;
        try {
            libraries = NativeLibraries.load(LibrarySearch.of(context));
        } catch (RuntimeException | LinkageError unusable) {
            return new NcclAvailability(Optional.of(text(unusable)), "", Optional.empty(), "", 0, List.of());
        }
        LoadedRuntime runtime = new LoadedRuntime(libraries.runtime(), libraries.prefix(), libraries.runtimeVersion());
        Devices devices = Devices.count(runtime);
        List<String> lacks = Stream.of(NcclCapability.values())
                .filter(capability -> !libraries.has(capability))
                .map(NcclCapability::toString)
                .toList();
        return new NcclAvailability(
                devices.unusableBecause,
                libraries.nccl(),
                Optional.of(libraries.version()),
                libraries.runtime(),
                devices.count,
                lacks);
    }

    /**
     * Returns why NCCL cannot be used here.
     *
     * @param context settings that may name the libraries
     * @return empty if it can
     */
    public static Optional<String> unavailableBecause(RankContext context) {
        return look(context).unavailableBecause;
    }

    /** Returns why device memory cannot be used here, which needs no NCCL. */
    static Optional<String> memoryUnavailableBecause(RankContext context) {
        try {
            return Devices.count(NativeLibraries.loadRuntime(LibrarySearch.of(context))).unusableBecause;
        } catch (RuntimeException | LinkageError unusable) {
            return Optional.of(text(unusable));
        }
    }

    private static String text(Throwable unusable) {
        // an Error is JNA's class or its library that is not there
        return unusable instanceof RuntimeException && unusable.getMessage() != null
                ? unusable.getMessage()
                : "JNA does not work here (" + unusable + "): put jna.jar on the class path";
    }

    /** How many devices the runtime counts, or why it counts none. */
    private record Devices(int count, Optional<String> unusableBecause) {
        static Devices count(LoadedRuntime runtime) {
            int[] count = new int[1];
            int code = Cuda.cudaGetDeviceCount(count);
            if (code == Cuda.SUCCESS && count[0] > 0) {
                return new Devices(count[0], Optional.empty());
            }
            Cuda.cudaGetLastError();
            return new Devices(0, Optional.of(reason(code, runtime)));
        }

        private static String reason(int code, LoadedRuntime runtime) {
            String of = runtime.prefix() + " runtime " + LoadedRuntime.release(runtime.version()) + " ("
                    + runtime.path() + ")";
            return switch (code) {
                case Cuda.SUCCESS, Cuda.NO_DEVICE ->
                    "no device found by the " + of + ": need a GPU that this process may see (CUDA_VISIBLE_DEVICES,"
                            + " devices given to the container); CUDA error (code 100)";
                case Cuda.INSUFFICIENT_DRIVER -> driver(of) + "; CUDA error (code 35)";
                default ->
                    "the " + of + " cannot count devices: "
                            + Checks.cudaFailure(code, "cudaGetDeviceCount").getMessage();
            };
        }

        private static String driver(String runtime) {
            int[] version = new int[1];
            int code = Cuda.cudaDriverGetVersion(version);
            return code != Cuda.SUCCESS || version[0] == 0
                    ? "no driver found by the " + runtime
                            + ": install the driver of the GPU, in a container start it with" + " the GPU's devices"
                    : "the driver is of release " + LoadedRuntime.release(version[0]) + ", too old for the " + runtime
                            + ": update the driver, or name an older runtime by -Dferro.cudart.library";
        }
    }
}
