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
 * One library that the loader accepted.
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

    /** Prevents JNA from unpacking and loading a library of that name from the class path. */
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

    /** Throws a failure if JNA does not work. JNA may be absent, lack native access, or fail to unpack its library. */
    static void requireJna(Function<List<LibraryLoadFailure>, RuntimeException> failure) {
        String why;
        try {
            if (Native.POINTER_SIZE == Long.BYTES) {
                return;
            }
            why = "need a JVM of 64 bits, found pointers of " + Native.POINTER_SIZE + " bytes";
        } catch (LinkageError refused) {
            // later uses of the classes fail with other errors, which hide the first cause
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
                // JNA also throws this if it cannot start: no execution in the temporary folder, native access denied
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

    /** Returns whether a runtime fits this NCCL. RCCL links to HIP's runtime; NVIDIA's NCCL shows no such link. */
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

    /** Returns the loader's message: the first line that is not JNA's introduction, without the candidate's name. */
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

    /** Returns the native methods of a class that this library lacks, under the library's names. */
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

    /** Returns the file that contains a function, as the kernel mapped it; the candidate if that file is unknown. */
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

    /** Returns whether a library name of a user means this library. */
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
