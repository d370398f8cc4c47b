package ferro;

import ferro.HostTensor.ForeignView;
import java.util.Objects;

/**
 * The memory behind a {@link HostTensor}, for implementers of back ends, kernels and tools. A program that only uses
 * groups does not need this class, since the methods of a tensor read and write elements.
 *
 * <p>The elements of a tensor are in one array, in one direct buffer, or in the buffers of {@link ForeignMemory}.
 * {@link #memoryAt}, {@link #offsetAt} and {@link #runAt} work for all three kinds of memory. Code that moves many
 * elements moves one run after the other:
 *
 * <pre>{@code
 * for (long at = 0; at < tensor.elementCount(); ) {
 *     long run = TensorMemory.runAt(tensor, at);
 *     move(TensorMemory.memoryAt(tensor, at), TensorMemory.offsetAt(tensor, at), run);
 *     at += run;
 * }
 * }</pre>
 *
 * <p>Read and write a buffer only by absolute index, since its position and limit belong to the caller who created the
 * tensor. The methods allocate no memory and never wait. Any thread may call the methods.
 */
public final class TensorMemory {
    private TensorMemory() {}

    /**
     * Returns the array or direct buffer that holds an element and the elements after this element. The result is the
     * same for equal positions in one memory.
     *
     * @param tensor  view of the memory
     * @param element index of the element, counted from the start of the view; at most the number of elements
     * @return memory; {@link #offsetAt} returns where the element is in this memory, {@link #runAt} how many elements
     *     this memory holds from the element on
     */
    public static Object memoryAt(HostTensor tensor, long element) {
        return tensor.memory instanceof ForeignView view ? view.buffer(element) : tensor.memory;
    }

    /**
     * Returns where an element is in the memory that {@link #memoryAt} returns.
     *
     * @param tensor  view of the memory
     * @param element index of the element, counted from the start of the view
     * @return index for an array, bytes for a buffer
     */
    public static long offsetAt(HostTensor tensor, long element) {
        return tensor.memory instanceof ForeignView view
                ? view.offset(element)
                : tensor.offset + element * tensor.unit();
    }

    /**
     * Returns how many elements, from an element on, are in the memory that {@link #memoryAt} returns. If
     * {@link #hasParts} returns false, all elements to the end of the view are in one memory. If {@link #hasParts}
     * returns true, the memory holds at least 2 MiB from the element on, or all elements to the end of the view.
     *
     * @param tensor  view of the memory
     * @param element index of the element, counted from the start of the view
     * @return number of elements, at most to the end of the view
     */
    public static long runAt(HostTensor tensor, long element) {
        return tensor.memory instanceof ForeignView view ? view.run(element) : tensor.elementCount() - element;
    }

    /**
     * Returns whether the elements are in more than one buffer, so that {@link HostTensor#memory()} cannot return them.
     *
     * @param tensor view of the memory
     * @return true only for a view of {@link ForeignMemory}
     */
    public static boolean hasParts(HostTensor tensor) {
        return tensor.memory instanceof ForeignView view && view.run(0) < view.elementCount();
    }

    /**
     * Returns whether the owner may free the memory at any time. Code may access memory that may be freed only by the
     * methods of its buffers, which check each access, and never by its address.
     *
     * @param tensor view of the memory
     * @return true for a view of {@link ForeignMemory}
     */
    public static boolean isForeign(HostTensor tensor) {
        return tensor.memory instanceof ForeignView;
    }

    /**
     * Returns an object that stands for the memory of a view. Two views have the same object if they have the same
     * memory, which is one array, one buffer, or one foreign memory. The {@link #memoryOffset} of two views can be
     * compared only if both views have the same object. Different buffers of the same bytes are different memory.
     *
     * @param tensor view of the memory
     * @return array, buffer, or another object; compared by identity
     */
    public static Object memoryKey(HostTensor tensor) {
        return tensor.memory instanceof ForeignView view ? view.windows() : tensor.memory;
    }

    /**
     * Returns the start of the view in the memory that {@link #memoryKey} stands for.
     *
     * @param tensor view of the memory
     * @return offset in elements for an array, in bytes for a buffer or foreign memory
     */
    public static long memoryOffset(HostTensor tensor) {
        return tensor.memory instanceof ForeignView view ? view.start() : tensor.offset;
    }

    /**
     * Checks that a call may use a tensor. The owner of foreign memory must not have freed the memory, and foreign
     * memory that the call writes must not be read-only. Memory that is not foreign passes the check. A back end checks
     * each tensor of a send or receive before any data moves. {@link Collective#check} checks the tensors of a
     * collective.
     *
     * @param tensor    tensor of the call
     * @param call      name of the call, for the message
     * @param name      name of the tensor in the call, for the message
     * @param isWritten whether the call writes the tensor
     * @throws IllegalStateException    if the owner has freed the memory
     * @throws IllegalArgumentException if the memory is read-only and the call writes the memory
     */
    public static void checkUsable(HostTensor tensor, String call, String name, boolean isWritten) {
        Objects.requireNonNull(call, "call");
        Objects.requireNonNull(name, "name");
        if (tensor.memory instanceof ForeignView view) {
            view.windows().check(call, name, tensor, isWritten);
        }
    }
}
