package ferro.lightgbm.ffi;

import com.sun.jna.Function;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Loads LightGBM's C library and binds {@link LightGbmFunctions}. A JVM binds one library and never unloads it, because
 * LightGBM's threads may outlive every model.
 */
public final class LightGbmLibrary {
    /** The folder that the artifact lightgbmlib has for each system. */
    private static final String FOLDER = "/com/microsoft/ml/lightgbm/";

    /** The prefix of files that JNA has extracted from a jar; a file in a folder keeps its name. */
    private static final String UNPACKED = "jna";

    private static final AtomicReference<BoundLibrary> BOUND = new AtomicReference<>();

    private LightGbmLibrary() {}

    private record BoundLibrary(String file, NativeLibrary library) {}

    /**
     * Binds the library of the artifact lightgbmlib, which is extracted from the class path. Later calls do nothing.
     *
     * @throws UnsupportedOperationException if JNA does not work here, or the library is absent or cannot be loaded
     */
    public static void load() {
        if (BOUND.get() == null) {
            bind(null);
        }
    }

    /**
     * Binds a library file. Later calls with the same file do nothing.
     *
     * @param file library
     * @throws UnsupportedOperationException if JNA does not work here, or the library cannot be loaded
     * @throws IllegalStateException if this JVM has bound another library
     */
    public static void load(Path file) {
        String path = file.toAbsolutePath().toString();
        BoundLibrary bound = BOUND.get() == null ? bind(path) : BOUND.get();
        if (!bound.file.equals(path)) {
            throw new IllegalStateException("this JVM has bound LightGBM's library " + bound.file + " and cannot bind "
                    + path + " as well: name the same library everywhere");
        }
    }

    private static synchronized BoundLibrary bind(String path) {
        if (BOUND.get() != null) {
            return BOUND.get();
        }
        try {
            File file = path == null ? extracted() : new File(path);
            NativeLibrary library = NativeLibrary.getInstance(file.getPath());
            Native.register(LightGbmFunctions.class, library);
            BOUND.set(new BoundLibrary(file.getPath(), library));
            if (path == null && file.getName().startsWith(UNPACKED)) {
                // a rank that is killed leaves no file behind; where a loaded file cannot be deleted, the exit deletes
                // it
                file.delete();
            }
            return BOUND.get();
        } catch (IOException | LinkageError failure) {
            throw new UnsupportedOperationException(
                    "cannot load LightGBM's library " + (path == null ? resource() : path) + ": " + firstCause(failure)
                            + ": LightGBM needs libgomp (Debian: libgomp1); JNA needs a folder whose files may be executed"
                            + " (-Djna.tmpdir=...)",
                    failure);
        }
    }

    private static File extracted() throws IOException {
        ClassLoader own = LightGbmLibrary.class.getClassLoader();
        ClassLoader loader = own.getResource(resource().substring(1)) == null
                ? Thread.currentThread().getContextClassLoader()
                : own;
        return Native.extractFromResourcePath(resource(), loader).getAbsoluteFile();
    }

    /** Returns the path of the library in the artifact lightgbmlib, which has it for x86_64 only. */
    private static String resource() {
        String system = System.getProperty("os.name").toLowerCase(Locale.ROOT);
        if (system.startsWith("windows")) {
            return FOLDER + "windows/x86_64/lib_lightgbm.dll";
        }
        return FOLDER + (system.startsWith("mac") ? "osx/x86_64/lib_lightgbm.dylib" : "linux/x86_64/lib_lightgbm.so");
    }

    private static String firstCause(Throwable failure) {
        Throwable first = failure;
        while (first.getCause() != null) {
            first = first.getCause();
        }
        return first.toString();
    }

    /**
     * Returns a view of native memory without a copy. The memory must exist while the view is in use.
     *
     * @param address first byte
     * @param bytes   size; 0 gives a view of other memory without bytes
     * @return direct buffer in native order
     */
    public static ByteBuffer view(long address, int bytes) {
        return bytes == 0
                ? ByteBuffer.allocateDirect(0).order(ByteOrder.nativeOrder())
                : new Pointer(address).getByteBuffer(0, bytes);
    }

    /**
     * {@return the address of the first byte of a direct buffer}
     *
     * @param buffer direct buffer, which must stay reachable while the address is in use
     */
    public static long address(ByteBuffer buffer) {
        return Pointer.nativeValue(Native.getDirectBufferPointer(buffer));
    }

    /**
     * Writes zeros.
     *
     * @param address first byte
     * @param bytes   size
     */
    public static void clear(long address, int bytes) {
        if (bytes > 0) {
            new Pointer(address).setMemory(0, bytes, (byte) 0);
        }
    }

    /**
     * {@return the address of the function to which a C++ reference to a function pointer points}
     *
     * @param reference address of the address of a {@code ReduceFunction}
     */
    public static long functionAt(long reference) {
        return new Pointer(reference).getLong(0);
    }

    /**
     * Returns a function that combines two blocks of bytes.
     *
     * @param address address of a {@code ReduceFunction}
     * @return function with the parameters input, output, bytes of one element, bytes
     */
    public static Function reducer(long address) {
        return Function.getFunction(new Pointer(address));
    }
}
