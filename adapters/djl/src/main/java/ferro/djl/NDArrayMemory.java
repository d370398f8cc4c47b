package ferro.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ferro.HostTensor;
import java.nio.ByteBuffer;

/**
 * Copies elements out of arrays of DJL and into them.
 *
 * <p>{@link NDArray#toByteBuffer(boolean)} is the array's own memory where its elements lie one behind the other, and silently a
 * copy where they do not, as in a transposed array; the copy lives as long as the array's manager. So each copy here is made in a
 * scope of its own, and whoever writes looks first whether the array would see it.
 */
final class NDArrayMemory {
    private NDArrayMemory() {}

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

    /** Says whether a view of an array is the array's memory: flips a bit in it, and looks for it in a second view. */
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
     * Returns the memory of an array as long as the array is open.
     *
     * @throws UnsupportedOperationException if its elements do not lie one behind the other
     */
    static ByteBuffer ownMemory(NDArray array) {
        ByteBuffer view = array.toByteBuffer(true);
        if (!isOwnMemory(array, view)) {
            throw new UnsupportedOperationException("array of shape " + array.getShape() + " on " + array.getDevice()
                    + ": the engine gives out copies of it only");
        }
        return view;
    }

    /** An engine may keep the memory that it is given. */
    private static ByteBuffer copy(ByteBuffer from) {
        ByteBuffer copy = ByteBuffer.allocateDirect(from.remaining()).order(from.order());
        return copy.put(from).flip();
    }
}
