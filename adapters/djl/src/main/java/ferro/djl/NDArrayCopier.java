package ferro.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ferro.HostTensor;
import java.nio.ByteBuffer;

/**
 * Methods that copy elements from and to arrays of DJL.
 *
 * <p>If the elements of an array are contiguous, {@link NDArray#toByteBuffer(boolean)} returns the array's own memory.
 * If the elements are not contiguous, as in a transposed array, the method returns a copy without a warning. The copy
 * lives as long as the array's manager. Each method of this class therefore uses a manager of its own for the copy. A
 * method that writes elements first checks whether the array would see the new values.
 */
final class NDArrayCopier {
    private NDArrayCopier() {}

    /** Copies the elements of an array, in the order of its shape. */
    static void read(NDArray from, HostTensor to) {
        try (NDManager scope = from.getManager().newSubManager()) {
            from.tempAttach(scope);
            to.buffer().put(from.toByteBuffer(true));
        }
    }

    /** Overwrites the elements of an array, in the order of its shape. */
    static void write(HostTensor from, NDArray to) {
        try (NDManager scope = to.getManager().newSubManager()) {
            to.tempAttach(scope);
            ByteBuffer view = to.toByteBuffer(true);
            if (isOwnMemory(to, view)) {
                view.put(from.buffer());
            } else {
                to.set(copy(from.buffer()));
            }
        }
    }

    /**
     * Returns whether a view of an array shares the array's memory. The check flips a bit in the view and reads the
     * same bit in a second view.
     */
    static boolean isOwnMemory(NDArray array, ByteBuffer view) {
        if (view.remaining() == 0) {
            return true;
        }
        byte first = view.get(0);
        view.put(0, (byte) (first ^ 1));
        boolean isSeen = array.toByteBuffer(true).get(0) != first;
        view.put(0, first);
        return isSeen;
    }

    /**
     * Returns the memory of an array. The memory is valid as long as the array is open.
     *
     * @throws UnsupportedOperationException if the elements of the array are not contiguous
     */
    static ByteBuffer ownMemory(NDArray array) {
        ByteBuffer view = array.toByteBuffer(true);
        if (!isOwnMemory(array, view)) {
            throw new UnsupportedOperationException("array of shape " + array.getShape() + " on " + array.getDevice()
                    + ": the engine gives only copies of its memory, no direct access");
        }
        return view;
    }

    /** Returns a copy of a buffer, because an engine may keep the buffer that is passed to it. */
    private static ByteBuffer copy(ByteBuffer from) {
        ByteBuffer copy = ByteBuffer.allocateDirect(from.remaining()).order(from.order());
        return copy.put(from).flip();
    }
}
