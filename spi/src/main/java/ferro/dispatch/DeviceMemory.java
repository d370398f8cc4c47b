package ferro.dispatch;

import ferro.DataType;
import ferro.DeviceTensor;
import java.nio.ByteBuffer;
import java.time.Duration;

/**
 * Memory of devices, and copies between it and the host. This is the only access to the elements of a {@link DeviceTensor}.
 *
 * <p>The context of a rank has one: {@code context.shared(DeviceMemory.class, ...)}.
 * {@link ferro.dispatch.DeviceMemoryProvider} makes it. Any thread may call; the current device of the calling thread is
 * never changed. Copies start after the work that is in the device's default stream at that moment. Per direction and
 * device they run in the order in which they were started. They are asynchronous: the caller must not use source or
 * destination until {@link Copy#await} has returned true.
 *
 * <p>Both sides must have the same size in bytes, else IllegalArgumentException is thrown before any data moves. Native
 * failures are {@link ferro.FerroException} NATIVE; out of memory is RESOURCE.
 */
public interface DeviceMemory extends AutoCloseable {
    /**
     * Makes an uninitialised tensor; its owner is an AutoCloseable that frees it; closing the owner is idempotent.
     *
     * @param dataType element type
     * @param shape    lengths, none negative
     * @param device   ordinal
     * @return tensor
     */
    DeviceTensor allocate(DataType dataType, long[] shape, int device);

    /**
     * Makes host memory for fast copies: pinned memory, or plain direct memory if pinning is refused.
     *
     * @param bytes size
     * @return memory, native order
     */
    Staging stage(int bytes);

    /**
     * Starts a copy to the host.
     *
     * @param from device memory
     * @param to   direct buffer, filled from position to limit; neither changes
     * @return handle
     */
    Copy toHost(DeviceTensor from, ByteBuffer to);

    /**
     * Starts a copy to the device.
     *
     * @param from direct buffer, read from position to limit; neither changes
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

    /** Frees pools and the memory that {@link #stage} made. Tensors stay valid; their owners free them. */
    @Override
    void close();

    /** Host memory for copies. */
    interface Staging extends AutoCloseable {
        /**
         * Returns the memory.
         *
         * @return direct buffer, native order, position 0, limit at its size; always the same object, whose position and
         *     limit the caller may change
         */
        ByteBuffer buffer();

        /**
         * Returns whether the memory is pinned.
         *
         * @return false if pinning was refused
         */
        boolean pinned();

        /** Releases the memory; idempotent. */
        @Override
        void close();
    }

    /** A pending copy. */
    interface Copy {
        /**
         * Waits for the end of the copy.
         *
         * @param timeout longest wait; zero does not wait
         * @return whether the copy is done; false means that it is still pending
         * @throws ferro.FerroException NATIVE if the copy failed; INTERRUPTED with the interrupt flag set again
         */
        boolean await(Duration timeout);
    }
}
