package ferro.backend.tcp.link;

import ferro.Carrier;
import io.netty.channel.unix.Errors;
import io.netty.channel.unix.FileDescriptor;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * The system calls {@code send} and {@code recv} of Linux on elements of arrays, without a copy. From JDK 22 on, {@code
 * java.lang.foreign} can pass an array to a native call without a copy. This class finds {@code java.lang.foreign} by
 * name, because ferro's classes target JDK 17.
 *
 * <p>The calls also accept direct buffers of {@link ferro.ForeignMemory}. {@code java.lang.foreign} keeps the arena of
 * such a buffer open during the call, and refuses a buffer whose arena is closed.
 *
 * <p>The JVM reaches no safepoint during a call, so a call moves at most {@link #MOST_BYTES}. Failures have the same
 * texts as failures of Netty. One thread at a time may use an instance.
 */
final class ArraySocketCalls {
    /**
     * Maximum bytes per call. The kernel's copy in a call takes tens of microseconds, which may delay a garbage
     * collection.
     */
    static final int MOST_BYTES = 256 << 10;

    private static final int FIRST_WITH_FOREIGN = 22;

    private static final int MSG_DONTWAIT = 0x40;
    private static final int MSG_NOSIGNAL = 0x4000;
    private static final int EINTR = 4;

    /** The native functions that were found. All fields of this object are final, so the JIT inlines the calls. */
    private static final ArrayFunctions FOUND = find();

    private final ByteBuffer errno;
    private final Object errnoSegment;

    /**
     * Creates the calls. The caller must check first that {@link #absentBecause} returns null.
     *
     * @param errno direct memory of an int, in native order, for the reason of a failed call
     */
    ArraySocketCalls(ByteBuffer errno) {
        this.errno = errno;
        this.errnoSegment = FOUND.segment(errno);
    }

    /** Returns the reason why this JVM cannot pass an array to a system call; null if the JVM can. */
    static String absentBecause() {
        return FOUND.absentBecause;
    }

    /**
     * Writes bytes of an array of a {@link Carrier}, or of a direct buffer.
     *
     * @param from  first byte, counted from the first element of the array, or from index 0 of the buffer
     * @param bytes 1 to {@link #MOST_BYTES}
     * @return how many bytes the kernel accepted; 0 if the buffer of the kernel is full
     */
    int send(FileDescriptor socket, Object array, long from, int bytes) throws IOException {
        int taken = call(true, socket, array, from, bytes);
        return taken >= 0 ? taken : Errors.ioResult("write", taken);
    }

    /**
     * Reads bytes into an array of a {@link Carrier} or into a direct buffer. The parameters are those of {@link
     * #send}.
     *
     * @return how many bytes were read; 0 if no byte has arrived, -1 at the end of the stream
     */
    int receive(FileDescriptor socket, Object array, long from, int bytes) throws IOException {
        int came = call(false, socket, array, from, bytes);
        if (came == 0) {
            return -1;
        }
        return came > 0 ? came : Errors.ioResult("read", came);
    }

    /** Returns the result of the call, or the negative errno. */
    private int call(boolean sends, FileDescriptor socket, Object array, long from, long bytes) {
        int descriptor = socket.intValue();
        try {
            while (true) {
                long moved = sends
                        ? (long) FOUND.send.invokeExact(errnoSegment, descriptor, array, from, bytes, bytes)
                        : (long) FOUND.receive.invokeExact(errnoSegment, descriptor, array, from, bytes, bytes);
                if (moved >= 0) {
                    return (int) moved;
                }
                int failure = errno.getInt(0);
                if (failure != EINTR) {
                    return -failure;
                }
            }
        } catch (RuntimeException | Error failure) {
            throw failure;
        } catch (Throwable impossible) {
            throw new IllegalStateException("cannot lend " + array + " to socket " + descriptor, impossible);
        }
    }

    private static ArrayFunctions find() {
        int feature = Runtime.version().feature();
        if (feature < FIRST_WITH_FOREIGN) {
            return ArrayFunctions.absent(
                    "JDK " + feature + " has no java.lang.foreign: use " + FIRST_WITH_FOREIGN + " or newer");
        }
        try {
            Module ours = ArraySocketCalls.class.getModule();
            if (!(boolean) Module.class.getMethod("isNativeAccessEnabled").invoke(ours)) {
                String name = ours.isNamed() ? ours.getName() : "ALL-UNNAMED";
                return ArrayFunctions.absent("native access is not enabled: start with --enable-native-access=" + name);
            }
            return new ForeignLookup().found();
        } catch (ReflectiveOperationException | RuntimeException absent) {
            return ArrayFunctions.absent("java.lang.foreign lacks the needed calls: " + absent);
        }
    }

    /**
     * The native functions, or the reason why they were not found.
     *
     * @param absentBecause why the functions were not found; null if they were found
     * @param send          function that maps (segment for errno, descriptor, array, first byte, bytes, bytes again) to
     *     the number of moved bytes, or -1 on failure
     * @param receive       same signature as {@code send}
     * @param ofBuffer      function that maps a buffer to a segment
     */
    private record ArrayFunctions(
            String absentBecause, MethodHandle send, MethodHandle receive, MethodHandle ofBuffer) {
        static ArrayFunctions absent(String why) {
            return new ArrayFunctions(why, null, null, null);
        }

        Object segment(Buffer buffer) {
            try {
                return (Object) ofBuffer.invokeExact(buffer);
            } catch (Throwable impossible) {
                throw new IllegalStateException("no segment of " + buffer, impossible);
            }
        }
    }

    private static final class ForeignLookup {
        private final Lookup lookup = MethodHandles.lookup();
        private final Class<?> segment = Class.forName("java.lang.foreign.MemorySegment");
        private final Class<?> layout = Class.forName("java.lang.foreign.MemoryLayout");
        private final Class<?> option = Class.forName("java.lang.foreign.Linker$Option");
        private final Class<?> linkerType = Class.forName("java.lang.foreign.Linker");
        private final Object linker = linkerType.getMethod("nativeLinker").invoke(null);

        ForeignLookup() throws ReflectiveOperationException {}

        ArrayFunctions found() throws ReflectiveOperationException {
            MethodHandle ofBuffer =
                    lookup.findStatic(segment, "ofBuffer", MethodType.methodType(segment, Buffer.class));
            MethodHandle part = partOfArray();
            return new ArrayFunctions(
                    null,
                    function("send", part, MSG_DONTWAIT | MSG_NOSIGNAL),
                    function("recv", part, MSG_DONTWAIT),
                    ofBuffer.asType(MethodType.methodType(Object.class, Buffer.class)));
        }

        /** Returns {@code ssize_t name(int, void *, size_t, int)} for a part of an array, with fixed {@code flags}. */
        private MethodHandle function(String name, MethodHandle part, int flags) throws ReflectiveOperationException {
            Object symbols = linkerType.getMethod("defaultLookup").invoke(linker);
            Optional<?> address = (Optional<?>) Class.forName("java.lang.foreign.SymbolLookup")
                    .getMethod("find", String.class)
                    .invoke(symbols, name);
            Object options = Array.newInstance(option, 2);
            Array.set(options, 0, option.getMethod("critical", boolean.class).invoke(null, true));
            Array.set(
                    options,
                    1,
                    option.getMethod("captureCallState", String[].class).invoke(null, (Object) new String[] {"errno"}));
            Class<?> descriptor = Class.forName("java.lang.foreign.FunctionDescriptor");
            MethodHandle call = (MethodHandle) linkerType
                    .getMethod("downcallHandle", segment, descriptor, options.getClass())
                    .invoke(linker, address.orElseThrow(), signature(descriptor), options);
            MethodHandle ofArray =
                    MethodHandles.collectArguments(MethodHandles.insertArguments(call, 4, flags), 2, part);
            return ofArray.asType(MethodType.methodType(
                    long.class, Object.class, int.class, Object.class, long.class, long.class, long.class));
        }

        private Object signature(Class<?> descriptor) throws ReflectiveOperationException {
            Object arguments = Array.newInstance(layout, 4);
            String[] names = {"JAVA_INT", "ADDRESS", "JAVA_LONG", "JAVA_INT"};
            for (int i = 0; i < names.length; i++) {
                Array.set(arguments, i, value(names[i]));
            }
            return descriptor.getMethod("of", layout, arguments.getClass()).invoke(null, value("JAVA_LONG"), arguments);
        }

        private static Object value(String name) throws ReflectiveOperationException {
            return Class.forName("java.lang.foreign.ValueLayout").getField(name).get(null);
        }

        /**
         * Returns the buffer from index 0 to its capacity, independent of the position and limit that its owner has
         * set.
         */
        private static Buffer all(ByteBuffer bytes) {
            return bytes.duplicate().clear();
        }

        /** Returns the function that maps (array or buffer, first byte, number of bytes) to a segment. */
        private MethodHandle partOfArray() throws ReflectiveOperationException {
            MethodHandle whole = null;
            for (Carrier carrier : Carrier.values()) {
                Class<?> array = carrier.arrayClass();
                MethodHandle of = lookup.findStatic(segment, "ofArray", MethodType.methodType(segment, array))
                        .asType(MethodType.methodType(segment, Object.class));
                whole = whole == null ? of : MethodHandles.guardWithTest(isInstance(array), of, whole);
            }
            MethodHandle ofBuffer = MethodHandles.filterArguments(
                            lookup.findStatic(segment, "ofBuffer", MethodType.methodType(segment, Buffer.class)),
                            0,
                            lookup.findStatic(
                                    ForeignLookup.class, "all", MethodType.methodType(Buffer.class, ByteBuffer.class)))
                    .asType(MethodType.methodType(segment, Object.class));
            whole = MethodHandles.guardWithTest(isInstance(ByteBuffer.class), ofBuffer, whole);
            MethodHandle slice =
                    lookup.findVirtual(segment, "asSlice", MethodType.methodType(segment, long.class, long.class));
            return MethodHandles.collectArguments(slice, 0, whole);
        }

        private MethodHandle isInstance(Class<?> type) throws ReflectiveOperationException {
            return lookup.bind(type, "isInstance", MethodType.methodType(boolean.class, Object.class));
        }
    }
}
