package ferro;

import java.util.Objects;

/** Elements in device memory: no get, no set, since a host read of a device pointer ends the JVM. */
public final class DeviceTensor implements Tensor {
    private final DataType dataType;
    private final long[] shape;
    private final long elementCount;
    private final long address;
    private final int device;
    private final Object owner;

    /**
     * Wraps memory that something else owns.
     *
     * @param dataType element type
     * @param shape    lengths, none negative
     * @param address  device pointer
     * @param device   ordinal
     * @param owner    kept reachable as long as this view; may be null
     * @throws IllegalArgumentException if a length is negative
     */
    public DeviceTensor(DataType dataType, long[] shape, long address, int device, Object owner) {
        this.dataType = Objects.requireNonNull(dataType, "dataType");
        this.shape = shape.clone();
        this.elementCount = HostTensor.elements(shape);
        this.address = address;
        this.device = device;
        this.owner = owner;
    }

    /**
     * Returns the device pointer.
     *
     * @return address
     */
    public long address() {
        return address;
    }

    /**
     * Returns the device.
     *
     * @return ordinal
     */
    public int device() {
        return device;
    }

    /**
     * Returns what keeps the memory alive.
     *
     * @return owner or null
     */
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
}
