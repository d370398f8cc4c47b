package ferro.backend.nccl.ffi;

import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import ferro.backend.nccl.CudaRuntimeNotFoundException;
import ferro.backend.nccl.LibraryLoadFailure;
import ferro.backend.nccl.NcclLibraryNotFoundException;
import ferro.backend.nccl.NcclSymbolNotFoundException;
import ferro.spi.LinuxFiles;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * A library that the system's loader has opened.
 *
 * @param candidate name or path by which the library was found
 * @param prefix    prefix of the library's functions
 * @param library   JNA's handle
 */
record OpenedLibrary(String candidate, GpuRuntime prefix, NativeLibrary library) {
    /**
     * RTLD_NOW | RTLD_LOCAL of dlfcn.h. JNA's default makes the symbols visible to all libraries. Two copies of CUDA or
     * NCCL in one process (PyTorch has its own) could then bind to each other.
     */
    private static final int NOW_AND_LOCAL = 2;

    /** Prevents JNA from unpacking and loading a library with the same name from the class path. */
    private static final ClassLoader NO_RESOURCES = new EmptyClassLoader();

    private static final String ASKED_OF_EVERY_RUNTIME = "cudaGetDeviceCount";

    static OpenedLibrary openNccl(List<String> candidates) {
        return first(candidates, GpuRuntime.CUDA, NcclLibraryNotFoundException::new);
    }

    static OpenedLibrary openRuntime(List<String> candidates) {
        OpenedLibrary opened = first(candidates, GpuRuntime.CUDA, CudaRuntimeNotFoundException::new);
        OpenedLibrary hip = new OpenedLibrary(opened.candidate, GpuRuntime.HIP, open(opened.candidate, GpuRuntime.HIP));
        return hip.has(ASKED_OF_EVERY_RUNTIME) ? hip : opened;
    }

    /**
     * Throws the failure that the function creates if JNA cannot be used. JNA may be absent, lack native access, or
     * fail to unpack its library.
     */
    static void requireJna(Function<List<LibraryLoadFailure>, RuntimeException> failure) {
        String why;
        try {
            if (Native.POINTER_SIZE == Long.BYTES) {
                return;
            }
            why = "need a JVM of 64 bits, found pointers of " + Native.POINTER_SIZE + " bytes";
        } catch (LinkageError refused) {
            // later uses of JNA's classes fail with errors that do not show the cause, so the message contains the
            // first cause
            Throwable first = refused;
            while (first.getCause() != null) {
                first = first.getCause();
            }
            why = first + "; put jna.jar on the class path, allow native access"
                    + " (--enable-native-access=ALL-UNNAMED, on the module path com.sun.jna), and set -Djna.tmpdir=... to a"
                    + " folder whose files may be executed";
        }
        throw failure.apply(List.of(new LibraryLoadFailure("JNA", why)));
    }

    private static OpenedLibrary first(
            List<String> candidates, GpuRuntime prefix, Function<List<LibraryLoadFailure>, RuntimeException> failure) {
        List<LibraryLoadFailure> tried = new ArrayList<>();
        for (String candidate : candidates) {
            try {
                return new OpenedLibrary(candidate, prefix, open(candidate, prefix));
            } catch (LinkageError refused) {
                // JNA also throws this error if it cannot start, because files in the temporary folder may not be
                // executed or native access is denied
                tried.add(new LibraryLoadFailure(candidate, text(refused, candidate)));
            }
        }
        throw failure.apply(tried);
    }

    private static NativeLibrary open(String candidate, GpuRuntime prefix) {
        return LibraryLoader.keep(NativeLibrary.getInstance(candidate, options(prefix)));
    }

    private static Map<String, Object> options(GpuRuntime prefix) {
        return Map.of(
                Library.OPTION_OPEN_FLAGS,
                NOW_AND_LOCAL,
                Library.OPTION_STRING_ENCODING,
                "UTF-8",
                Library.OPTION_FUNCTION_MAPPER,
                prefix.mapper(),
                Library.OPTION_CLASSLOADER,
                NO_RESOURCES);
    }

    /** A class loader without resources. */
    private static final class EmptyClassLoader extends ClassLoader {
        EmptyClassLoader() {
            super(null);
        }

        @Override
        public URL getResource(String name) {
            return null;
        }
    }

    /**
     * Returns whether this NCCL uses the given kind of runtime. RCCL links to the runtime of HIP; NVIDIA's NCCL has no
     * such link.
     */
    boolean fits(GpuRuntime runtime) {
        return (runtime == GpuRuntime.HIP) == hasUnmapped(GpuRuntime.HIP.nameOf(ASKED_OF_EVERY_RUNTIME));
    }

    private boolean hasUnmapped(String symbol) {
        try {
            library.getFunction(symbol);
            return true;
        } catch (UnsatisfiedLinkError absent) {
            return false;
        }
    }

    /**
     * Returns the message of the system's loader. It is the first line of the error text that is not JNA's
     * introduction, without the library's name.
     */
    private static String text(LinkageError refused, String candidate) {
        String message = refused.getMessage() == null ? refused.toString() : refused.getMessage();
        String line = message.lines()
                .filter(words -> !words.startsWith("Unable to load library"))
                .findFirst()
                .orElse(message)
                .strip();
        String introduction = candidate + ": ";
        return line.startsWith(introduction) ? line.substring(introduction.length()) : line;
    }

    boolean has(String function) {
        return hasUnmapped(prefix.nameOf(function));
    }

    /**
     * Returns the functions that this library lacks, of those that the native methods of a class need, with the names
     * that the library would use.
     */
    List<String> missing(Class<?> functions) {
        return Stream.of(functions.getDeclaredMethods())
                .filter(method -> Modifier.isNative(method.getModifiers()))
                .map(Method::getName)
                .filter(name -> !has(name))
                .map(prefix::nameOf)
                .sorted()
                .toList();
    }

    void require(Class<?> functions) {
        List<String> missing = missing(functions);
        if (!missing.isEmpty()) {
            throw new NcclSymbolNotFoundException(candidate, missing);
        }
    }

    /**
     * Returns the path of the file from which the kernel has mapped a function. If the file is unknown, returns the
     * name or path by which the library was opened.
     */
    String path(String function) {
        long address = Pointer.nativeValue(library.getFunction(prefix.nameOf(function)));
        try (Stream<String> maps = Files.lines(LinuxFiles.HOST.path("self/maps"))) {
            return maps.filter(line -> line.indexOf('/') > 0 && holds(line, address))
                    .map(line -> line.substring(line.indexOf('/')))
                    .findFirst()
                    .orElse(candidate);
        } catch (IOException unknown) {
            return candidate;
        }
    }

    /** Returns whether a line of the memory map, such as {@code from-to ...} in hexadecimal, contains an address. */
    private static boolean holds(String line, long address) {
        int dash = line.indexOf('-');
        long from = Long.parseUnsignedLong(line.substring(0, dash), 16);
        long to = Long.parseUnsignedLong(line.substring(dash + 1, line.indexOf(' ')), 16);
        return Long.compareUnsigned(from, address) <= 0 && Long.compareUnsigned(address, to) < 0;
    }

    /** Returns whether a library name that a user has set means this library. */
    boolean isCalled(String name, String function) {
        if (name.equals(candidate)) {
            return true;
        }
        try {
            return Path.of(name).isAbsolute() && Files.isSameFile(Path.of(name), Path.of(path(function)));
        } catch (IOException notThere) {
            return false;
        }
    }
}
