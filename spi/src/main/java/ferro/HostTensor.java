package ferro;

import static java.util.Objects.requireNonNull;

import java.lang.reflect.Array;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;

/**
 * A range of elements of one array, of one direct buffer in native byte order, or of {@link ForeignMemory}. Links send
 * and receive this type of tensor, and kernels compute on it.
 *
 * <p>{@link #memory()} is one of {@code float[] double[] int[] long[] short[] byte[]} or a direct {@code ByteBuffer}.
 * Foreign memory above 1 GiB has several buffers, which {@link TensorMemory#memoryAt} returns. One class covers all kinds of memory,
 * so that the engine needs only one type of memory range. The view is one-dimensional: code on the host keeps track of
 * shapes itself.
 *
 * <p>Code that must work on arrays and on direct buffers reads and writes elements through this view. Each element type
 * is accessed as the Java type that carries it: u32 as {@code int}, bits of f16 as {@code short}.
 *
 * {@snippet file="ferro/examples/snippets/TypeSnippetsTest.java" region="elements" :
 *
 * float first = tensor.getFloat(0);
 * tensor.setFloat(0, 2 * first);
 * float[] copy = new float[100];
 * tensor.copyTo(0, copy, 0, 100); // and back: tensor.copyFrom(0, copy, 0, 100)
 * }
 */
public final class HostTensor extends HostElements implements Tensor {
    private HostTensor(DataType dataType, Object memory, long offset, long elementCount) {
        super(requireNonNull(dataType, "dataType"), requireNonNull(memory, "memory"), offset, elementCount);
    }

    /**
     * Wraps all elements of an array without copying.
     *
     * @param array elements
     * @return view with elements of FLOAT32
     */
    public static HostTensor of(float[] array) {
        return new HostTensor(DataType.FLOAT32, requireNonNull(array, "array"), 0, array.length);
    }

    /**
     * Wraps part of an array without copying.
     *
     * @param dataType FLOAT32
     * @param array    elements
     * @param offset   first element
     * @param count    elements
     * @return view
     * @throws IllegalArgumentException  if {@code float[]} cannot hold {@code dataType}
     * @throws IndexOutOfBoundsException if the part is not inside the array
     */
    public static HostTensor of(DataType dataType, float[] array, int offset, int count) {
        Objects.checkFromIndexSize(offset, count, requireNonNull(array, "array").length);
        return new HostTensor(fitting(dataType, Carrier.FLOAT), array, offset, count);
    }

    /**
     * Wraps all elements of an array without copying.
     *
     * @param array elements
     * @return view with elements of FLOAT64
     */
    public static HostTensor of(double[] array) {
        return new HostTensor(DataType.FLOAT64, requireNonNull(array, "array"), 0, array.length);
    }

    /**
     * Wraps part of an array without copying.
     *
     * @param dataType FLOAT64
     * @param array    elements
     * @param offset   first element
     * @param count    elements
     * @return view
     * @throws IllegalArgumentException  if {@code double[]} cannot hold {@code dataType}
     * @throws IndexOutOfBoundsException if the part is not inside the array
     */
    public static HostTensor of(DataType dataType, double[] array, int offset, int count) {
        Objects.checkFromIndexSize(offset, count, requireNonNull(array, "array").length);
        return new HostTensor(fitting(dataType, Carrier.DOUBLE), array, offset, count);
    }

    /**
     * Wraps all elements of an array without copying.
     *
     * @param array elements
     * @return view with elements of INT32
     */
    public static HostTensor of(int[] array) {
        return new HostTensor(DataType.INT32, requireNonNull(array, "array"), 0, array.length);
    }

    /**
     * Wraps part of an array without copying.
     *
     * @param dataType INT32 or UINT32
     * @param array    elements
     * @param offset   first element
     * @param count    elements
     * @return view
     * @throws IllegalArgumentException  if {@code int[]} cannot hold {@code dataType}
     * @throws IndexOutOfBoundsException if the part is not inside the array
     */
    public static HostTensor of(DataType dataType, int[] array, int offset, int count) {
        Objects.checkFromIndexSize(offset, count, requireNonNull(array, "array").length);
        return new HostTensor(fitting(dataType, Carrier.INT), array, offset, count);
    }

    /**
     * Wraps all elements of an array without copying.
     *
     * @param array elements
     * @return view with elements of INT64
     */
    public static HostTensor of(long[] array) {
        return new HostTensor(DataType.INT64, requireNonNull(array, "array"), 0, array.length);
    }

    /**
     * Wraps part of an array without copying.
     *
     * @param dataType INT64 or UINT64
     * @param array    elements
     * @param offset   first element
     * @param count    elements
     * @return view
     * @throws IllegalArgumentException  if {@code long[]} cannot hold {@code dataType}
     * @throws IndexOutOfBoundsException if the part is not inside the array
     */
    public static HostTensor of(DataType dataType, long[] array, int offset, int count) {
        Objects.checkFromIndexSize(offset, count, requireNonNull(array, "array").length);
        return new HostTensor(fitting(dataType, Carrier.LONG), array, offset, count);
    }

    /**
     * Wraps all elements of an array without copying.
     *
     * @param array elements
     * @return view with elements of INT16
     */
    public static HostTensor of(short[] array) {
        return new HostTensor(DataType.INT16, requireNonNull(array, "array"), 0, array.length);
    }

    /**
     * Wraps part of an array without copying.
     *
     * @param dataType INT16, UINT16, FLOAT16 or BFLOAT16
     * @param array    elements
     * @param offset   first element
     * @param count    elements
     * @return view
     * @throws IllegalArgumentException  if {@code short[]} cannot hold {@code dataType}
     * @throws IndexOutOfBoundsException if the part is not inside the array
     */
    public static HostTensor of(DataType dataType, short[] array, int offset, int count) {
        Objects.checkFromIndexSize(offset, count, requireNonNull(array, "array").length);
        return new HostTensor(fitting(dataType, Carrier.SHORT), array, offset, count);
    }

    /**
     * Wraps all elements of an array without copying.
     *
     * @param array elements
     * @return view with elements of INT8
     */
    public static HostTensor of(byte[] array) {
        return new HostTensor(DataType.INT8, requireNonNull(array, "array"), 0, array.length);
    }

    /**
     * Wraps part of an array without copying.
     *
     * @param dataType INT8 or UINT8
     * @param array    elements
     * @param offset   first element
     * @param count    elements
     * @return view
     * @throws IllegalArgumentException  if {@code byte[]} cannot hold {@code dataType}
     * @throws IndexOutOfBoundsException if the part is not inside the array
     */
    public static HostTensor of(DataType dataType, byte[] array, int offset, int count) {
        Objects.checkFromIndexSize(offset, count, requireNonNull(array, "array").length);
        return new HostTensor(fitting(dataType, Carrier.BYTE), array, offset, count);
    }

    /**
     * Wraps part of an array without copying, for code that handles every element type.
     *
     * @param dataType element type
     * @param array    array of the class that the {@link Carrier} of the type has
     * @param offset   first element
     * @param count    elements
     * @return view
     * @throws IllegalArgumentException  if {@code array} cannot hold {@code dataType}
     * @throws IndexOutOfBoundsException if the part is not inside the array
     */
    public static HostTensor ofArray(DataType dataType, Object array, int offset, int count) {
        Carrier carrier = requireNonNull(dataType, "dataType").carrier();
        if (!carrier.arrayClass().isInstance(requireNonNull(array, "array"))) {
            throw new IllegalArgumentException(array.getClass().getSimpleName() + " cannot hold " + dataType.label()
                    + ": need a " + carrier.arrayName());
        }
        Objects.checkFromIndexSize(offset, count, Array.getLength(array));
        return new HostTensor(dataType, array, offset, count);
    }

    /**
     * Wraps the bytes of a direct buffer from its position to its limit. The buffer must have native byte order.
     *
     * <p>Back ends may use the address of the buffer. Do not pass a buffer of a memory segment whose arena may be closed
     * during a call: use module {@code ferro.segments}, or {@link #of(DataType, ForeignMemory)}.
     *
     * @param dataType element type
     * @param bytes    direct buffer; do not change its limit while the view is in use
     * @return view
     * @throws IllegalArgumentException if the buffer is not direct, is read-only, does not have native order, or ends
     *     inside an element
     */
    public static HostTensor of(DataType dataType, ByteBuffer bytes) {
        requireNonNull(dataType, "dataType");
        requireNonNull(bytes, "bytes");
        if (!bytes.isDirect() || bytes.isReadOnly()) {
            throw new IllegalArgumentException("need a writable direct buffer, found " + bytes
                    + (bytes.isReadOnly() ? " (read-only)" : "") + ": wrap the array of a heap buffer instead");
        }
        if (bytes.order() != ByteOrder.nativeOrder() || bytes.remaining() % dataType.byteSize() != 0) {
            throw new IllegalArgumentException(
                    "need native order and a multiple of the " + dataType.byteSize() + " bytes of " + dataType.label()
                            + ", found " + bytes.order() + " and " + bytes.remaining() + " bytes");
        }
        return new HostTensor(dataType, bytes, bytes.position(), bytes.remaining() / dataType.byteSize());
    }

    /**
     * Wraps memory whose owner may free it, without copying. The view has all bytes of the memory and may exceed 2 GiB.
     *
     * <p>The owner must not free the memory before the calls on the view have ended. A call that begins later throws an
     * IllegalStateException and moves no data. If the owner frees the memory during a call, the call fails with ABORTED
     * on all ranks, and the JVM goes on. After the owner has freed the memory, each accessor of the view throws what the
     * buffers of the memory throw.
     *
     * @param dataType element type
     * @param memory   memory; a call refuses memory that is read-only as its output
     * @return view
     * @throws IllegalArgumentException if the memory ends inside an element, or its buffers are not direct buffers in
     *     native order
     */
    public static HostTensor of(DataType dataType, ForeignMemory memory) {
        int unit = requireNonNull(dataType, "dataType").byteSize();
        long bytes = requireNonNull(memory, "memory").byteCount();
        if (bytes % unit != 0) {
            throw new IllegalArgumentException(
                    "need a multiple of the " + unit + " bytes of " + dataType.label() + ", found " + bytes + " bytes");
        }
        return new HostTensor(dataType, new BufferWindows(memory), 0, bytes / unit);
    }

    /**
     * Allocates direct memory of zeros. The memory is freed when it is no longer reachable.
     *
     * @param dataType     element type
     * @param elementCount elements
     * @return view of all of the memory
     * @throws IllegalArgumentException if the count is negative, or one buffer cannot hold that many bytes
     */
    public static HostTensor allocate(DataType dataType, long elementCount) {
        long most = Integer.MAX_VALUE / requireNonNull(dataType, "dataType").byteSize();
        if (elementCount < 0 || elementCount > most) {
            throw new IllegalArgumentException("allocate: " + elementCount + " elements of " + dataType.label()
                    + ", need 0 to " + most + ", the maximum of one buffer");
        }
        ByteBuffer bytes = ByteBuffer.allocateDirect((int) elementCount * dataType.byteSize());
        return of(dataType, bytes.order(ByteOrder.nativeOrder()));
    }

    /**
     * Returns a part of this view.
     *
     * @param from  first element, counted from the start of this view
     * @param count elements
     * @return view of the same memory
     * @throws IndexOutOfBoundsException if the part is not inside this view
     */
    public HostTensor slice(long from, long count) {
        Objects.checkFromIndexSize(from, count, elementCount());
        return new HostTensor(dataType, memoryKey(), memoryOffset() + from * unit(), count);
    }

    /**
     * Returns a new buffer over the elements, for code that needs a buffer, for example {@code
     * tensor.buffer().asFloatBuffer()}.
     *
     * @return buffer of the same memory in native order, from position 0 to the end of the last element
     * @throws IllegalStateException if this is a view of an array, or no single buffer has all elements
     */
    public ByteBuffer buffer() {
        if (memory() instanceof ByteBuffer bytes) {
            return bytes.duplicate()
                    .clear()
                    .slice((int) offset(), (int) byteCount())
                    .order(ByteOrder.nativeOrder());
        }
        throw new IllegalStateException(
                this + " is a view of a " + memory.getClass().getSimpleName()
                        + ", not of a buffer: use memory(), or the accessors, which work for arrays and buffers");
    }

    @Override
    public DataType dataType() {
        return dataType;
    }

    @Override
    public long[] shape() {
        return new long[] {elementCount()};
    }

    @Override
    public String toString() {
        return dataType.label() + "[" + elementCount() + "]";
    }

    private static DataType fitting(DataType dataType, Carrier carrier) {
        if (requireNonNull(dataType, "dataType").carrier() != carrier) {
            throw new IllegalArgumentException(carrier.arrayName() + " cannot hold " + dataType.label());
        }
        return dataType;
    }

    /** Multiplies the lengths of a shape. {@link DeviceTensor} uses this method too. */
    static long elements(long[] shape) {
        long count = 1;
        for (long length : shape) {
            if (length < 0) {
                throw new IllegalArgumentException("the lengths of a tensor must not be negative, found " + length);
            }
            count = Math.multiplyExact(count, length);
        }
        return count;
    }
}
