package ferro;

import java.util.Arrays;
import java.util.Objects;

/**
 * Elements in device memory. This class has no methods that get or set an element, since a read of a device pointer on
 * the host crashes the JVM.
 */
public final class DeviceTensor implements Tensor {
    private final DataType dataType;
    private final long[] shape;
    private final long elementCount;
    private final long address;
    private final int device;
    private final Object owner;

    /**
     * Wraps memory that another object owns.
     *
     * @param dataType element type
     * @param shape    length of each dimension, 0 or greater
     * @param address  device pointer
     * @param device   ordinal of the device
     * @param owner    object that this view keeps reachable; may be null
     * @throws IllegalArgumentException if a length is negative
     */
    public DeviceTensor(DataType dataType, long[] shape, long address, int device, Object owner) {
        this.dataType = Objects.requireNonNull(dataType, "dataType");
        this.shape = Objects.requireNonNull(shape, "shape").clone();
        this.elementCount = HostTensor.elements(shape);
        this.address = address;
        this.device = device;
        this.owner = owner;
    }

    /**
     * Returns a part of this view, as a one-dimensional tensor.
     *
     * @param from  first element, counted from the start of this view
     * @param count number of elements
     * @return view of the same memory, with the same owner
     * @throws IndexOutOfBoundsException if the part is not inside this view
     */
    public DeviceTensor slice(long from, long count) {
        Objects.checkFromIndexSize(from, count, elementCount);
        return new DeviceTensor(dataType, new long[] {count}, address + from * dataType.byteSize(), device, owner);
    }

    /** {@return the size of all elements in bytes: {@code elementCount() * dataType().byteSize()}} */
    public long byteCount() {
        return Math.multiplyExact(elementCount, (long) dataType.byteSize());
    }

    /** {@return the device pointer} */
    public long address() {
        return address;
    }

    /** {@return the ordinal of the device} */
    public int device() {
        return device;
    }

    /** {@return the object that owns the memory and prevents its release; may be null} */
    public Object owner() {
        return owner;
    }

    @Override
    public DataType dataType() {
        return dataType;
    }

    @Override
    public long elementCount() {
        return elementCount;
    }

    @Override
    public long[] shape() {
        return shape.clone();
    }

    @Override
    public String toString() {
        return dataType.label() + Arrays.toString(shape) + " on device " + device;
    }
}
