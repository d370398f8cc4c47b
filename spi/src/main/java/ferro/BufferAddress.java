package ferro;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.nio.Buffer;
import java.nio.ByteBuffer;

/**
 * Where a direct buffer lies: by {@code java.lang.foreign} from JDK 22 on, by {@code sun.misc.Unsafe} before, of which later
 * JDKs warn. Both by name, as our classes are those of JDK 17 and need java.base only.
 */
final class BufferAddress {
    /** First JDK whose {@code java.lang.foreign} is no preview (JEP 454). */
    private static final int FIRST_WITH_SEGMENTS = 22;

    /** From {@code ByteBuffer} to {@code long}, or null; a constant, so that the compiler sees through it. */
    private static final MethodHandle OF_FIRST_BYTE = find();

    private BufferAddress() {}

    /** Returns whether this JVM tells addresses; without module jdk.unsupported JDK 17 to 21 do not. */
    static boolean isKnown() {
        return OF_FIRST_BYTE != null;
    }

    /** Returns the address of the byte at index 0, wherever position and limit are; only where it {@link #isKnown}. */
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
            // calls are then compared within one buffer only, which Overlaps says
            return null;
        }
    }

    /** By way of an empty slice, since a segment begins at the position, which another thread may move. */
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
