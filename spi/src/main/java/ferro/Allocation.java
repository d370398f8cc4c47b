package ferro;

import java.util.Objects;

/**
 * Memory that a group has made for a tensor of its caller ({@code ProcessGroup.allocate}).
 *
 * <p>The memory lives as long as this object, its tensor, a slice of the tensor or a buffer of one of them can be reached,
 * whatever becomes of the group: neither {@link #close} nor the close of the group takes it away. Code that holds nothing
 * but the address, such as a native library, keeps this object for as long (a field, or
 * {@link java.lang.ref.Reference#reachabilityFence} behind the last use).
 *
 * <p>When a call on shared memory has failed, another rank may still be inside it, and may write into this memory as long as a
 * rank of that group runs. Allocate anew in the next group, and do not keep anything in the old memory.
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
     * Makes one of memory that the ranks of a group share; for back ends.
     *
     * @param tensor view of this rank's memory
     * @param ends   ends its use in the group; may run several times, on any thread
     * @return allocation
     */
    public static Allocation shared(HostTensor tensor, Runnable ends) {
        return new Allocation(tensor, "", Objects.requireNonNull(ends, "ends"));
    }

    /**
     * Makes one of memory that this rank has for itself; for back ends.
     *
     * @param tensor       view of that memory
     * @param whyNotShared why the ranks do not share it, for people
     * @return allocation
     * @throws IllegalArgumentException if the reason is empty
     */
    public static Allocation own(HostTensor tensor, String whyNotShared) {
        if (Objects.requireNonNull(whyNotShared, "whyNotShared").isEmpty()) {
            throw new IllegalArgumentException("need a reason why " + tensor + " is not shared, found none");
        }
        return new Allocation(tensor, whyNotShared, () -> {});
    }

    /**
     * Returns the tensor, also after {@link #close}.
     *
     * @return view of the memory, zeros at first; the same object at each call
     */
    public HostTensor tensor() {
        return tensor;
    }

    /**
     * Returns whether all ranks of the group share the memory, the same on all of them.
     *
     * @return false for direct memory of this rank alone
     */
    public boolean isShared() {
        return whyNotShared.isEmpty();
    }

    /**
     * Returns why the ranks do not share the memory.
     *
     * @return text for people; empty if they share it
     */
    public String whyNotShared() {
        return whyNotShared;
    }

    /**
     * Ends the use of the memory in its group. What it counts against {@code ferro.shm.bytes} is given back. The tensor can
     * be used as before, in calls too, which copy it as they copy any other tensor. Each rank closes its own, at a time of
     * its own. Idempotent.
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
