package ferro.backend.nccl.ffi;

import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import ferro.backend.nccl.CudaRuntimeNotFoundException;
import ferro.backend.nccl.NcclLibraryNotFoundException;
import ferro.backend.nccl.NcclVersion;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Loads NCCL and the CUDA or HIP runtime for this process. JNA binds a class of native methods only once, and NCCL has
 * threads of its own, so a loaded library is never unloaded. Nothing is loaded before the first use. A load that fails
 * binds no function, and the next load tries again. Device memory needs only the runtime.
 */
public final class LibraryLoader {
    private static final String ASKED_OF_NCCL = "ncclGetVersion";
    private static final String ASKED_OF_RUNTIME = "cudaGetDeviceCount";

    private static final AtomicReference<BoundRuntime> RUNTIME = new AtomicReference<>();
    private static final AtomicReference<BoundNccl> BOTH = new AtomicReference<>();
    /**
     * All libraries that were opened, even those that are not used. Otherwise JNA would close them, which may crash the
     * process.
     */
    private static final Set<NativeLibrary> OPENED = ConcurrentHashMap.newKeySet();

    private LibraryLoader() {}

    /** The runtime whose functions are bound. */
    private record BoundRuntime(LoadedRuntime loaded, OpenedLibrary library) {}

    /** The NCCL whose functions are bound, and its runtime. */
    private record BoundNccl(LoadedLibraries loaded, OpenedLibrary nccl) {}

    /**
     * Loads NCCL, then the runtime, and binds their functions; later calls return the same libraries.
     *
     * @param search locations to search
     * @return loaded libraries
     * @throws NcclLibraryNotFoundException if no NCCL is found
     * @throws CudaRuntimeNotFoundException if no runtime is found
     * @throws ferro.backend.nccl.NcclSymbolNotFoundException if one of the libraries lacks functions that ferro needs
     * @throws IllegalStateException if a setting names a library, and this process has already loaded another one
     */
    public static LoadedLibraries load(LibraryLocations search) {
        BoundNccl both = BOTH.get() == null ? bind(search) : BOTH.get();
        search.namedNccl()
                .filter(name -> !both.nccl.isCalled(name, ASKED_OF_NCCL))
                .ifPresent(other -> refuse(both.loaded.nccl(), other));
        runtime(search);
        return both.loaded;
    }

    /**
     * Loads the runtime alone and binds its functions; later calls return the same runtime.
     *
     * @param search locations to search
     * @return loaded runtime
     * @throws CudaRuntimeNotFoundException if no runtime is found
     * @throws ferro.backend.nccl.NcclSymbolNotFoundException if the runtime lacks functions that ferro needs
     * @throws IllegalStateException if a setting names a runtime, and this process has already loaded another one
     */
    public static LoadedRuntime loadRuntime(LibraryLocations search) {
        return runtime(search).loaded;
    }

    /** {@return the loaded libraries; empty before the first successful {@link #load}} */
    public static Optional<LoadedLibraries> loaded() {
        return Optional.ofNullable(BOTH.get()).map(BoundNccl::loaded);
    }

    /**
     * Checks that a runtime is loaded, for callers without settings that could name a runtime.
     *
     * @throws IllegalStateException if no runtime is loaded
     */
    public static void requireRuntime() {
        if (RUNTIME.get() == null) {
            throw new IllegalStateException("no CUDA runtime is loaded (" + OPENED.size()
                    + " libraries are loaded): join a group with -Dferro.backend=nccl or open device memory first");
        }
    }

    /** Prevents that JNA closes a library before the process ends. */
    static NativeLibrary keep(NativeLibrary library) {
        OPENED.add(library);
        return library;
    }

    /** Returns the name that a function of CUDA has in the loaded runtime. */
    static String nameOf(String function) {
        BoundRuntime runtime = RUNTIME.get();
        return runtime == null ? function : runtime.loaded.prefix().nameOf(function);
    }

    private static synchronized BoundNccl bind(LibraryLocations search) {
        if (BOTH.get() != null) {
            return BOTH.get();
        }
        OpenedLibrary.requireJna(NcclLibraryNotFoundException::new);
        OpenedLibrary nccl = OpenedLibrary.openNccl(search.nccl());
        OpenedLibrary runtime = RUNTIME.get() == null
                ? OpenedLibrary.openRuntime(search.runtime(nccl.candidate()))
                : RUNTIME.get().library;
        nccl.require(Nccl.class);
        requireFit(nccl, runtime);
        BoundRuntime bound = bindRuntime(runtime);
        Native.register(Nccl.class, nccl.library());
        Set<NcclCapability> capabilities = EnumSet.noneOf(NcclCapability.class);
        for (NcclCapability capability : NcclCapability.values()) {
            if (nccl.missing(capability.functions()).isEmpty()) {
                Native.register(capability.functions(), nccl.library());
                capabilities.add(capability);
            }
        }
        LoadedLibraries libraries =
                new LoadedLibraries(nccl.path(ASKED_OF_NCCL), bound.loaded, ncclVersion(), capabilities);
        BOTH.set(new BoundNccl(libraries, nccl));
        return BOTH.get();
    }

    /**
     * Checks that NCCL uses the same kind of runtime, CUDA or HIP. NCCL cannot use streams and memory of the other
     * kind.
     */
    private static void requireFit(OpenedLibrary nccl, OpenedLibrary runtime) {
        if (!nccl.fits(runtime.prefix())) {
            throw new IllegalStateException(nccl.path(ASKED_OF_NCCL) + " cannot work with the " + runtime.prefix()
                    + " runtime " + runtime.path(ASKED_OF_RUNTIME)
                    + ": RCCL needs the HIP runtime, NCCL needs the CUDA runtime; a JVM can load one"
                    + " runtime: name the right runtime with -Dferro.cudart.library, or start another JVM");
        }
    }

    private static BoundRuntime runtime(LibraryLocations search) {
        BoundRuntime runtime = RUNTIME.get() == null ? bindRuntime(search) : RUNTIME.get();
        search.namedRuntime()
                .filter(name -> !runtime.library.isCalled(name, ASKED_OF_RUNTIME))
                .ifPresent(other -> refuse(runtime.loaded.path(), other));
        return runtime;
    }

    private static synchronized BoundRuntime bindRuntime(LibraryLocations search) {
        if (RUNTIME.get() != null) {
            return RUNTIME.get();
        }
        OpenedLibrary.requireJna(CudaRuntimeNotFoundException::new);
        return bindRuntime(OpenedLibrary.openRuntime(search.runtime()));
    }

    private static BoundRuntime bindRuntime(OpenedLibrary library) {
        if (RUNTIME.get() != null) {
            return RUNTIME.get();
        }
        library.require(Cuda.class);
        Native.register(Cuda.class, library.library());
        int[] version = new int[1];
        int code = Cuda.cudaRuntimeGetVersion(version);
        LoadedRuntime loaded = new LoadedRuntime(
                library.path(ASKED_OF_RUNTIME), library.prefix(), code == Cuda.SUCCESS ? version[0] : 0);
        RUNTIME.set(new BoundRuntime(loaded, library));
        return RUNTIME.get();
    }

    private static NcclVersion ncclVersion() {
        int[] version = new int[1];
        return NcclVersion.of(Nccl.ncclGetVersion(version) == 0 ? version[0] : 0);
    }

    private static void refuse(String loaded, String other) {
        throw new IllegalStateException(
                "this process has loaded " + loaded + " and cannot load " + other
                        + " as well: a JVM can load one NCCL and one runtime; name the same library everywhere, or start another JVM");
    }
}
