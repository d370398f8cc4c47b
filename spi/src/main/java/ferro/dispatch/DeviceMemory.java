package ferro.dispatch;

import ferro.DataType;
import ferro.DeviceTensor;
import java.nio.ByteBuffer;
import java.time.Duration;

/**
 * Memory of devices, with copies between device memory and host memory. This type is the only access to the elements of
 * a {@link DeviceTensor}.
 *
 * <p>The context of a rank has one object of this type: {@code context.shared(DeviceMemory.class, ...)}. A {@link
 * ferro.dispatch.DeviceMemoryProvider} creates this object. Any thread may call the methods. A call does not change the
 * current device of its thread. A copy starts after the work that is in the device's default stream at the time of the
 * call. Copies in the same direction on the same device run in the order in which they were started. Copies are
 * asynchronous, so the caller must not use source or destination until {@link Copy#await} has returned true.
 *
 * <p>Source and destination of a copy must have the same size in bytes. If the sizes differ, the copy throws
 * IllegalArgumentException before any data moves. A native failure throws a {@link ferro.FerroException} of code
 * NATIVE. A lack of memory throws a FerroException of code RESOURCE.
 */
public interface DeviceMemory extends AutoCloseable {
    /**
     * Allocates an uninitialised tensor. The owner of the tensor is an AutoCloseable that frees the memory. Closing the
     * owner is idempotent.
     *
     * @param dataType element type
     * @param shape    length of each dimension, 0 or greater
     * @param device   ordinal of the device
     * @return tensor
     */
    DeviceTensor allocate(DataType dataType, long[] shape, int device);

    /**
     * Allocates host memory for fast copies. The memory is pinned, or plain direct memory if pinning fails.
     *
     * @param bytes size in bytes
     * @return host memory in native byte order
     */
    Staging stage(int bytes);

    /**
     * Starts a copy to the host.
     *
     * @param from device memory
     * @param to   direct buffer, filled from position to limit; the copy changes neither position nor limit
     * @return handle
     */
    Copy toHost(DeviceTensor from, ByteBuffer to);

    /**
     * Starts a copy to the device.
     *
     * @param from direct buffer, read from position to limit; the copy changes neither position nor limit
     * @param to   device memory
     * @return handle
     */
    Copy toDevice(ByteBuffer from, DeviceTensor to);

    /**
     * Starts a copy on one device.
     *
     * @param from device memory
     * @param to   device memory of the same device, type and length
     * @return handle
     */
    Copy onDevice(DeviceTensor from, DeviceTensor to);

    /**
     * Frees memory pools and the memory that {@link #stage} allocated. Tensors stay valid, because the owner of a
     * tensor frees the tensor.
     */
    @Override
    void close();

    /** Memory of the host for copies from and to a device. */
    interface Staging extends AutoCloseable {
        /**
         * Returns the memory.
         *
         * @return direct buffer in native order, at first with position 0 and with its size as limit. Each call returns
         *     the same object. The caller may change the position and limit of the buffer
         */
        ByteBuffer buffer();

        /** {@return whether the memory is pinned; false if pinning has failed} */
        boolean pinned();

        /** Releases the memory; idempotent. */
        @Override
        void close();
    }

    /** A copy that was started and may be pending. */
    interface Copy {
        /**
         * Waits until the copy has ended.
         *
         * @param timeout maximum wait; zero does not wait
         * @return whether the copy is done; false means that the copy is still pending
         * @throws ferro.FerroException NATIVE if the copy failed; INTERRUPTED if this thread was interrupted, and the
         *     interrupt flag of this thread is then set again
         */
        boolean await(Duration timeout);
    }
}
