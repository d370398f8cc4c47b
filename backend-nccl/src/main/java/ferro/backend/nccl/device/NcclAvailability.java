package ferro.backend.nccl.device;

import ferro.backend.nccl.CudaRuntimeNotFoundException;
import ferro.backend.nccl.LibraryLoadFailure;
import ferro.backend.nccl.NcclLibraryNotFoundException;
import ferro.backend.nccl.NcclVersion;
import ferro.backend.nccl.ffi.Cuda;
import ferro.backend.nccl.ffi.LibraryLoader;
import ferro.backend.nccl.ffi.LibraryLocations;
import ferro.backend.nccl.ffi.LoadedLibraries;
import ferro.backend.nccl.ffi.LoadedRuntime;
import ferro.backend.nccl.ffi.NcclCapability;
import ferro.backend.nccl.ffi.ResultChecker;
import ferro.spi.RankContext;
import ferro.spi.Setting;
import ferro.spi.Settings;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Whether NCCL can be used on this host, and the reason if it cannot.
 *
 * <p>A loaded NCCL can be used only if the runtime reports at least one device.
 */
public final class NcclAvailability {
    private final Optional<String> unavailableBecause;
    private final Optional<LoadedLibraries> libraries;
    private final int devices;
    private final List<LibraryLoadFailure> tried;

    private NcclAvailability(
            Optional<String> unavailableBecause,
            Optional<LoadedLibraries> libraries,
            int devices,
            List<LibraryLoadFailure> tried) {
        this.unavailableBecause = unavailableBecause;
        this.libraries = libraries;
        this.devices = devices;
        this.tried = List.copyOf(tried);
    }

    /**
     * Searches for NCCL and the CUDA or HIP runtime, and loads them if they are found. They are never unloaded.
     *
     * @param context settings that may name the libraries
     * @return whether NCCL can be used, and why not
     */
    public static NcclAvailability look(RankContext context) {
        LoadedLibraries libraries;
        try {
            libraries = LibraryLoader.load(LibraryLocations.of(context));
        } catch (NcclLibraryNotFoundException missing) {
            return unavailable(
                    text("NCCL library libnccl.so.2", missing.tried(), Settings.NCCL_LIBRARY), missing.tried());
        } catch (CudaRuntimeNotFoundException missing) {
            String what = "CUDA runtime library libcudart.so";
            return unavailable(text(what, missing.tried(), Settings.CUDART_LIBRARY), missing.tried());
        } catch (RuntimeException | LinkageError unusable) {
            return unavailable(text(unusable), List.of());
        }
        DeviceCount devices = DeviceCount.count(libraries.runtime());
        return new NcclAvailability(devices.unusableBecause, Optional.of(libraries), devices.count, List.of());
    }

    /** {@return why NCCL cannot be used, and what the user can do; empty if NCCL can be used} */
    public Optional<String> unavailableBecause() {
        return unavailableBecause;
    }

    /** {@return the file of NCCL, empty if NCCL did not load} */
    public String nccl() {
        return libraries.map(LoadedLibraries::nccl).orElse("");
    }

    /** {@return the release of NCCL, empty if NCCL did not load} */
    public Optional<NcclVersion> version() {
        return libraries.map(LoadedLibraries::version);
    }

    /** {@return the file of the CUDA or HIP runtime, empty if the runtime did not load} */
    public String runtime() {
        return libraries.map(loaded -> loaded.runtime().path()).orElse("");
    }

    /** {@return the number of devices, 0 if unknown} */
    public int devices() {
        return devices;
    }

    /** {@return the functions of newer releases that the loaded NCCL lacks} */
    public List<String> lacks() {
        return libraries.stream().flatMap(NcclAvailability::lacking).toList();
    }

    private static Stream<String> lacking(LoadedLibraries libraries) {
        return Stream.of(NcclCapability.values())
                .filter(capability -> !libraries.has(capability))
                .map(NcclCapability::toString);
    }

    /** {@return the locations in which a missing library was searched, in order; empty if no library is missing} */
    public List<LibraryLoadFailure> tried() {
        return tried;
    }

    /**
     * Returns why no libraries need to be searched: the host has neither a GPU driver nor a GPU, and the settings do
     * not name NCCL.
     *
     * @param context settings that may name NCCL
     * @return empty if {@link #look} may find NCCL
     */
    public static Optional<String> noGpuBecause(RankContext context) {
        return GpuFileFinder.noneBecause(context, Path.of("/"));
    }

    /**
     * {@return why NCCL cannot be used on this host; empty if it can}
     *
     * @param context settings that may name the libraries
     */
    public static Optional<String> unavailableBecause(RankContext context) {
        return look(context).unavailableBecause;
    }

    /**
     * {@return why device memory, which does not need NCCL, cannot be used on this host; empty if it can}
     *
     * @param context settings that may name the runtime
     */
    public static Optional<String> memoryUnavailableBecause(RankContext context) {
        try {
            return DeviceCount.count(LibraryLoader.loadRuntime(LibraryLocations.of(context))).unusableBecause;
        } catch (CudaRuntimeNotFoundException missing) {
            return Optional.of(text("CUDA runtime library libcudart.so", missing.tried(), Settings.CUDART_LIBRARY));
        } catch (RuntimeException | LinkageError unusable) {
            return Optional.of(text(unusable));
        }
    }

    private static NcclAvailability unavailable(String because, List<LibraryLoadFailure> tried) {
        return new NcclAvailability(Optional.of(because), Optional.empty(), 0, tried);
    }

    /**
     * Returns the message for a missing library. If a single location was tried, the message contains the location and
     * the loader's message. Otherwise the message contains only the number of locations; {@link #tried} lists them.
     */
    private static String text(String library, List<LibraryLoadFailure> tried, Setting<String> setting) {
        String where = tried.size() == 1
                ? "by " + tried.get(0).candidate() + " (" + tried.get(0).message() + ")"
                : "in any of " + tried.size() + " places (FERRO_BACKEND=nccl ferro doctor lists them)";
        String install = setting == Settings.NCCL_LIBRARY ? "install NCCL" : "install the CUDA runtime";
        return library + " not found " + where + ": " + install + ", or name its file with -D" + setting.name() + " or "
                + setting.variable();
    }

    private static String text(Throwable unusable) {
        // an Error means that a class of JNA or its native library is missing
        return unusable instanceof RuntimeException && unusable.getMessage() != null
                ? unusable.getMessage()
                : "JNA does not work here (" + unusable + "): put jna.jar on the class path";
    }

    /** Number of devices that the runtime reports, or the reason why it reports none. */
    private record DeviceCount(int count, Optional<String> unusableBecause) {
        static DeviceCount count(LoadedRuntime runtime) {
            int[] count = new int[1];
            int code = Cuda.cudaGetDeviceCount(count);
            if (code == Cuda.SUCCESS && count[0] > 0) {
                return new DeviceCount(count[0], Optional.empty());
            }
            Cuda.cudaGetLastError();
            return new DeviceCount(0, Optional.of(reason(code, runtime)));
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
                            + ResultChecker.cudaFailure(code, "cudaGetDeviceCount")
                                    .getMessage();
            };
        }

        private static String driver(String runtime) {
            int[] version = new int[1];
            return Cuda.cudaDriverGetVersion(version) != Cuda.SUCCESS || version[0] == 0
                    ? "no driver found by the " + runtime + ": install the driver of the GPU; start a container with"
                            + " the GPU's devices"
                    : "the driver has release " + LoadedRuntime.release(version[0]) + ", which is too old for the "
                            + runtime + ": update the driver, or name an older runtime with -Dferro.cudart.library";
        }
    }
}
