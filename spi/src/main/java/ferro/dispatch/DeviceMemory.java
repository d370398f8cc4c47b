package ferro.dispatch;

import ferro.DataType;
import ferro.DeviceTensor;
import java.nio.ByteBuffer;
import java.time.Duration;

/**
 * Memory of devices, and copies between it and the host; the only way to the elements of a {@link DeviceTensor}.
 *
 * <p>One per rank's context: {@code context.shared(DeviceMemory.class, ...)}; {@link ferro.dispatch.DeviceMemoryProvider} makes it.
 * Any thread may call; the calling thread's own current device is never changed. Copies start after what the device's
 * default stream holds at that moment, run in the order in which they were started per direction and device, and are
 * asynchronous: neither side may be touched until {@link Copy#await} has returned true.
 *
 * <p>Sizes must be equal to the byte, else IllegalArgumentException before anything moves. Native failures are
 * {@link ferro.FerroException} NATIVE, out of memory is RESOURCE.
 */
public interface DeviceMemory extends AutoCloseable {
    /**
     * Makes an uninitialised tensor; its owner is an AutoCloseable that frees it, idempotent.
     *
     * @param dataType element type
     * @param shape    lengths, none negative
     * @param device   ordinal
     * @return tensor
     */
    DeviceTensor allocate(DataType dataType, long[] shape, int device);

    /**
     * Makes host memory that copies are fast from and to: pinned, or plain direct memory where pinning is refused.
     *
     * @param bytes size
     * @return memory, native order
     */
    Staging stage(int bytes);

    /**
     * Starts a copy to the host.
     *
     * @param from device memory
     * @param to   direct buffer, position to limit; neither moves
     * @return handle
     */
    Copy toHost(DeviceTensor from, ByteBuffer to);

    /**
     * Starts a copy to the device.
     *
     * @param from direct buffer, position to limit; neither moves
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

    /** Frees pools and what {@link #stage} made; tensors stay, each with its owner. */
    @Override
    void close();

    /** Host memory for copies. */
    interface Staging extends AutoCloseable {
        /**
         * Returns the memory.
         *
         * @return direct buffer, native order, position 0, limit at its size; one object, whose limits are the user's
         */
        ByteBuffer buffer();

        /**
         * Returns whether it is pinned.
         *
         * @return false where pinning was refused
         */
        boolean pinned();

        /** Gives it back; idempotent. */
        @Override
        void close();
    }

    /** A copy under way. */
    interface Copy {
        /**
         * Waits.
         *
         * @param timeout how long at most; zero only looks
         * @return whether it is done; false means that it is still under way
         * @throws ferro.FerroException NATIVE if it failed; INTERRUPTED with the flag set again
         */
        boolean await(Duration timeout);
    }
}
