package ferro;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.nio.Buffer;
import java.nio.ByteBuffer;

/**
 * Finds the address of a direct buffer. From JDK 22 on, this class uses {@code java.lang.foreign}, because later JDKs
 * print warnings about {@code sun.misc.Unsafe}. On earlier JDKs, this class uses {@code sun.misc.Unsafe}. The two APIs
 * are looked up by name, since the classes of ferro target JDK 17 and require only java.base.
 */
final class BufferAddressFinder {
    /** First JDK in which {@code java.lang.foreign} is not a preview (JEP 454). */
    private static final int FIRST_WITH_SEGMENTS = 22;

    /**
     * Handle that maps a {@code ByteBuffer} to a {@code long}, or null. The handle is a constant so that the JIT
     * compiler can inline it.
     */
    private static final MethodHandle OF_FIRST_BYTE = find();

    private BufferAddressFinder() {}

    /**
     * Returns whether this JVM gives addresses of buffers. JDK 17 to 21 give no addresses without the module
     * jdk.unsupported.
     */
    static boolean isKnown() {
        return OF_FIRST_BYTE != null;
    }

    /**
     * Returns the address of the byte at index 0, independent of position and limit. Callers call this method only if
     * {@link #isKnown} returns true.
     */
    static long of(ByteBuffer direct) {
        try {
            return (long) OF_FIRST_BYTE.invokeExact(direct);
        } catch (RuntimeException | Error failure) {
            throw failure;
        } catch (Throwable impossible) {
            throw new IllegalStateException("no address of " + direct, impossible);
        }
    }

    private static MethodHandle find() {
        try {
            MethodHandle found = Runtime.version().feature() >= FIRST_WITH_SEGMENTS ? bySegment() : byUnsafe();
            return found.asType(MethodType.methodType(long.class, ByteBuffer.class));
        } catch (ReflectiveOperationException | RuntimeException absent) {
            // without addresses, only overlaps within one buffer are found, see CallChecks
            return null;
        }
    }

    /**
     * Gets the address from a memory segment of an empty slice at index 0. A segment of the full buffer would begin at
     * the position of the buffer, which another thread may change.
     */
    private static MethodHandle bySegment() throws ReflectiveOperationException {
        Lookup lookup = MethodHandles.publicLookup();
        Class<?> segment = Class.forName("java.lang.foreign.MemorySegment");
        MethodHandle slice = lookup.findVirtual(
                ByteBuffer.class, "slice", MethodType.methodType(ByteBuffer.class, int.class, int.class));
        MethodHandle ofBuffer = lookup.findStatic(segment, "ofBuffer", MethodType.methodType(segment, Buffer.class));
        MethodHandle address = lookup.findVirtual(segment, "address", MethodType.methodType(long.class));
        MethodHandle ofSlice = MethodHandles.filterReturnValue(ofBuffer, address)
                .asType(MethodType.methodType(long.class, ByteBuffer.class));
        return MethodHandles.filterArguments(ofSlice, 0, MethodHandles.insertArguments(slice, 1, 0, 0));
    }

    private static MethodHandle byUnsafe() throws ReflectiveOperationException {
        Class<?> type = Class.forName("sun.misc.Unsafe");
        Field instance = type.getDeclaredField("theUnsafe");
        instance.setAccessible(true);
        Object unsafe = instance.get(null);
        long offset = (long) type.getMethod("objectFieldOffset", Field.class)
                .invoke(unsafe, Buffer.class.getDeclaredField("address"));
        MethodHandle getLong = MethodHandles.publicLookup()
                .findVirtual(type, "getLong", MethodType.methodType(long.class, Object.class, long.class));
        return MethodHandles.insertArguments(getLong.bindTo(unsafe), 1, offset);
    }
}
