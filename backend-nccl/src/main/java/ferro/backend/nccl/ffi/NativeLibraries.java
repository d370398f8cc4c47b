package ferro.backend.nccl.ffi;

import com.sun.jna.Native;
import ferro.backend.nccl.NcclVersion;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The one place that knows which libraries this process has loaded: JNA binds a class of native methods once, and NCCL keeps
 * threads of its own, so what is loaded stays. Nothing is loaded before the first {@link #load}; a load that fails leaves
 * nothing bound, and the next one looks again.
 */
public final class NativeLibraries {
    private static final AtomicReference<Bound> BOUND = new AtomicReference<>();

    private NativeLibraries() {}

    /** What is bound; the libraries are kept here so that JNA never closes them. */
    private record Bound(LoadedLibraries libraries, OpenedLibrary nccl, OpenedLibrary runtime) {}

    /**
     * Loads NCCL, then the runtime, and binds their functions; later calls return the same.
     *
     * @param search where to look
     * @return what is loaded
     * @throws ferro.backend.nccl.NcclLibraryNotFoundException if there is no NCCL
     * @throws ferro.backend.nccl.CudaRuntimeNotFoundException if there is no runtime
     * @throws ferro.backend.nccl.NcclSymbolNotFoundException if one of them lacks functions
     * @throws IllegalStateException if this process has loaded another library than the one named
     */
    public static LoadedLibraries load(LibrarySearch search) {
        Bound bound = BOUND.get();
        return bound == null ? bind(search) : checked(bound, search);
    }

    /**
     * Returns what is loaded.
     *
     * @return empty before the first successful {@link #load}
     */
    public static Optional<LoadedLibraries> loaded() {
        return Optional.ofNullable(BOUND.get()).map(Bound::libraries);
    }

    private static synchronized LoadedLibraries bind(LibrarySearch search) {
        if (BOUND.get() != null) {
            return checked(BOUND.get(), search);
        }
        JnaStart.require();
        OpenedLibrary nccl = OpenedLibrary.openNccl(search.nccl());
        OpenedLibrary runtime = OpenedLibrary.openRuntime(search.runtime(nccl.candidate()));
        nccl.require(Nccl.class);
        runtime.require(Cuda.class);
        Native.register(Nccl.class, nccl.library());
        Native.register(Cuda.class, runtime.library());
        Set<NcclCapability> capabilities = EnumSet.noneOf(NcclCapability.class);
        for (NcclCapability capability : NcclCapability.values()) {
            if (nccl.missing(capability.functions()).isEmpty()) {
                Native.register(capability.functions(), nccl.library());
                capabilities.add(capability);
            }
        }
        LoadedLibraries libraries = new LoadedLibraries(
                nccl.path("ncclGetVersion"),
                runtime.path("cudaGetDeviceCount"),
                runtime.prefix(),
                ncclVersion(),
                runtimeVersion(),
                capabilities);
        BOUND.set(new Bound(libraries, nccl, runtime));
        return libraries;
    }

    private static LoadedLibraries checked(Bound bound, LibrarySearch search) {
        List<String> others = new ArrayList<>();
        search.namedNccl()
                .filter(name -> !bound.nccl.isCalled(name, "ncclGetVersion"))
                .ifPresent(others::add);
        search.namedRuntime()
                .filter(name -> !bound.runtime.isCalled(name, "cudaGetDeviceCount"))
                .ifPresent(others::add);
        if (others.isEmpty()) {
            return bound.libraries;
        }
        throw new IllegalStateException("this process has loaded " + bound.libraries.nccl() + " with "
                + bound.libraries.runtime() + " and cannot load " + String.join(" and ", others)
                + " as well: one pair of libraries per JVM, name the same one everywhere or start another JVM");
    }

    private static NcclVersion ncclVersion() {
        int[] version = new int[1];
        int result = Nccl.ncclGetVersion(version);
        return NcclVersion.of(result == 0 ? version[0] : 0);
    }

    private static int runtimeVersion() {
        int[] version = new int[1];
        int code = Cuda.cudaRuntimeGetVersion(version);
        return code == Cuda.SUCCESS ? version[0] : 0;
    }
}
