package ferro;

import java.util.Objects;

/**
 * Memory that a group has allocated for a tensor of its caller ({@code ProcessGroup.allocate}).
 *
 * <p>The memory stays valid as long as this object, its tensor, a slice of the tensor, or a buffer of the tensor or
 * slice is reachable. Neither {@link #close} nor the close of the group frees the memory. Code that has only the
 * address, such as a caller of a native library, must keep this object reachable. A field or a call of
 * {@link java.lang.ref.Reference#reachabilityFence} after the last use keeps this object reachable.
 *
 * <p>After a call on shared memory has failed, other ranks may still run the call. Other ranks may write into the
 * shared memory as long as a rank of the group runs. After the failure of a call on shared memory, allocate new memory
 * in the next group, and do not keep data in the old memory.
 *
 * {@snippet file="ferro/examples/snippets/ProcessGroupSnippetsTest.java" region="allocate" :
 *
 * Allocation weights = group.allocate(DataType.FLOAT32, 1000);
 * group.allReduce(weights.tensor(), ReduceOp.SUM); // copies nothing into and out of shared memory
 * }
 *
 * <p>Thread-safe.
 */
public final class Allocation implements AutoCloseable {
    private final HostTensor tensor;
    private final String whyNotShared;
    private final Runnable ends;

    private Allocation(HostTensor tensor, String whyNotShared, Runnable ends) {
        this.tensor = Objects.requireNonNull(tensor, "tensor");
        this.whyNotShared = whyNotShared;
        this.ends = ends;
    }

    /**
     * Creates an allocation of memory that the ranks of a group share. Back ends call this method.
     *
     * @param tensor view of the memory of this rank
     * @param ends   action that ends the use of the memory in the group; may run several times, on any thread
     * @return allocation
     */
    public static Allocation shared(HostTensor tensor, Runnable ends) {
        return new Allocation(tensor, "", Objects.requireNonNull(ends, "ends"));
    }

    /**
     * Creates an allocation of memory that only this rank uses. Back ends call this method.
     *
     * @param tensor       view of the memory
     * @param whyNotShared why the ranks do not share the memory, as text for people
     * @return allocation
     * @throws IllegalArgumentException if the reason is empty
     */
    public static Allocation own(HostTensor tensor, String whyNotShared) {
        if (Objects.requireNonNull(whyNotShared, "whyNotShared").isEmpty()) {
            throw new IllegalArgumentException("need a reason why " + tensor + " is not shared, found an empty text");
        }
        return new Allocation(tensor, whyNotShared, () -> {});
    }

    /**
     * {@return the view of the memory, which contains zeros at first; each call returns the same object, even after
     * {@link #close}}
     */
    public HostTensor tensor() {
        return tensor;
    }

    /** {@return whether all ranks of the group share the memory; the result is the same on all ranks} */
    public boolean isShared() {
        return whyNotShared.isEmpty();
    }

    /** {@return why the ranks do not share the memory, as a text for people; empty if the ranks share the memory} */
    public String whyNotShared() {
        return whyNotShared;
    }

    /**
     * Ends the use of the memory in its group. The memory no longer counts against {@code ferro.shm.bytes}. The tensor
     * can still be used, even in calls of the group. After the close, calls copy the tensor's data as they copy the
     * data of any other tensor. Each rank may close its allocation at any time. Idempotent.
     */
    @Override
    public void close() {
        ends.run();
    }

    @Override
    public String toString() {
        return tensor + (isShared() ? ", shared" : ", not shared: " + whyNotShared);
    }
}
