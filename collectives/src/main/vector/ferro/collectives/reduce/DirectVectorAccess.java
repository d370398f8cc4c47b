package ferro.collectives.reduce;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.LongVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.Vector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Reads and writes of vectors in direct buffers. Up to JDK 18 the Vector API accesses byte buffers, and in later JDKs
 * it accesses memory segments. No source compiles on all JDKs, so the methods of the running JVM are called by method
 * handles. The handles are constants, so the JIT compiler can inline their targets.
 */
final class DirectVectorAccess {
    private static final ByteOrder ORDER = ByteOrder.nativeOrder();

    /** Whether this JDK uses memory segments. Memory segments are final since JDK 22 and were a preview before. */
    private static final boolean SEGMENTS = Runtime.version().feature() >= 22;

    private static final MethodType LOAD =
            MethodType.methodType(Vector.class, VectorSpecies.class, Object.class, long.class);
    private static final MethodType STORE = MethodType.methodType(void.class, Vector.class, Object.class, long.class);

    private static final MethodHandle VIEW = SEGMENTS ? segmentOf() : null;
    private static final MethodHandle LOAD_ANY = SEGMENTS ? loadSegment() : null;
    private static final MethodHandle LOAD_FLOATS = loadBuffer(FloatVector.class);
    private static final MethodHandle LOAD_DOUBLES = loadBuffer(DoubleVector.class);
    private static final MethodHandle LOAD_INTS = loadBuffer(IntVector.class);
    private static final MethodHandle LOAD_LONGS = loadBuffer(LongVector.class);
    private static final MethodHandle LOAD_SHORTS = loadBuffer(ShortVector.class);
    private static final MethodHandle LOAD_BYTES = loadBuffer(ByteVector.class);
    private static final MethodHandle STORE_ANY = store();

    private DirectVectorAccess() {}

    /** Returns why this JVM's Vector API cannot be called, or null. */
    static String unusableBecause() {
        int jdk = Runtime.version().feature();
        return jdk < 19 || SEGMENTS
                ? null
                : "vector kernels access buffers through memory segments, which are a preview in JDK " + jdk
                        + ": use 17, 18, or 22 and newer";
    }

    /** Returns, as a text for people, the kind of memory by which vectors access buffers. */
    static String by() {
        return SEGMENTS ? "memory segments" : "byte buffers";
    }

    /** Returns the view of a buffer that {@link #load} and {@link #store} access. */
    static Object of(TypedViews buffer) {
        if (buffer.forVectors == null) {
            try {
                buffer.forVectors = SEGMENTS ? (Object) VIEW.invokeExact((Buffer) buffer.bytes) : buffer.bytes;
            } catch (Throwable failure) {
                throw failed(failure);
            }
        }
        return buffer.forVectors;
    }

    static Vector<?> load(VectorSpecies<?> species, Object view, long at) {
        try {
            if (SEGMENTS) {
                return (Vector<?>) LOAD_ANY.invokeExact((VectorSpecies) species, view, at);
            }
            return loadOf(species.elementType(), species, view, at);
        } catch (Throwable failure) {
            throw failed(failure);
        }
    }

    private static Vector<?> loadOf(Class<?> element, VectorSpecies<?> species, Object view, long at) throws Throwable {
        if (element == float.class) {
            return (Vector<?>) LOAD_FLOATS.invokeExact((VectorSpecies) species, view, at);
        } else if (element == double.class) {
            return (Vector<?>) LOAD_DOUBLES.invokeExact((VectorSpecies) species, view, at);
        } else if (element == int.class) {
            return (Vector<?>) LOAD_INTS.invokeExact((VectorSpecies) species, view, at);
        } else if (element == long.class) {
            return (Vector<?>) LOAD_LONGS.invokeExact((VectorSpecies) species, view, at);
        } else if (element == short.class) {
            return (Vector<?>) LOAD_SHORTS.invokeExact((VectorSpecies) species, view, at);
        }
        return (Vector<?>) LOAD_BYTES.invokeExact((VectorSpecies) species, view, at);
    }

    static void store(Vector<?> vector, Object view, long at) {
        try {
            STORE_ANY.invokeExact((Vector) vector, view, at);
        } catch (Throwable failure) {
            throw failed(failure);
        }
    }

    private static RuntimeException failed(Throwable failure) {
        if (failure instanceof Error error) {
            throw error;
        }
        return failure instanceof RuntimeException known ? known : new IllegalStateException(failure);
    }

    private static MethodHandle segmentOf() {
        try {
            Class<?> segment = segment();
            return MethodHandles.lookup()
                    .findStatic(segment, "ofBuffer", MethodType.methodType(segment, Buffer.class))
                    .asType(MethodType.methodType(Object.class, Buffer.class));
        } catch (ReflectiveOperationException missing) {
            throw new IllegalStateException("no segments of buffers in JDK " + Runtime.version(), missing);
        }
    }

    private static MethodHandle loadSegment() {
        try {
            MethodType type = MethodType.methodType(Vector.class, segment(), long.class, ByteOrder.class);
            MethodHandle load = MethodHandles.lookup().findVirtual(VectorSpecies.class, "fromMemorySegment", type);
            return MethodHandles.insertArguments(load, 3, ORDER).asType(LOAD);
        } catch (ReflectiveOperationException missing) {
            throw new IllegalStateException("no vectors from segments in JDK " + Runtime.version(), missing);
        }
    }

    private static MethodHandle loadBuffer(Class<?> vector) {
        if (SEGMENTS) {
            return null;
        }
        try {
            MethodType type =
                    MethodType.methodType(vector, VectorSpecies.class, ByteBuffer.class, int.class, ByteOrder.class);
            MethodHandle load = MethodHandles.lookup().findStatic(vector, "fromByteBuffer", type);
            return MethodHandles.explicitCastArguments(MethodHandles.insertArguments(load, 3, ORDER), LOAD);
        } catch (ReflectiveOperationException missing) {
            throw new IllegalStateException("no vectors from buffers in JDK " + Runtime.version(), missing);
        }
    }

    private static MethodHandle store() {
        try {
            Class<?> memory = SEGMENTS ? segment() : ByteBuffer.class;
            MethodType type =
                    MethodType.methodType(void.class, memory, SEGMENTS ? long.class : int.class, ByteOrder.class);
            String name = SEGMENTS ? "intoMemorySegment" : "intoByteBuffer";
            MethodHandle store = MethodHandles.lookup().findVirtual(Vector.class, name, type);
            return MethodHandles.explicitCastArguments(MethodHandles.insertArguments(store, 3, ORDER), STORE);
        } catch (ReflectiveOperationException missing) {
            throw new IllegalStateException("no vectors into buffers in JDK " + Runtime.version(), missing);
        }
    }

    private static Class<?> segment() throws ClassNotFoundException {
        return Class.forName("java.lang.foreign.MemorySegment");
    }
}
