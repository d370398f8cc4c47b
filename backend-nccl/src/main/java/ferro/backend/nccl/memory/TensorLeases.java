package ferro.backend.nccl.memory;

import ferro.DeviceTensor;
import ferro.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The use of tensors by one operation. If the owner of a memory block is closed during the use, the block is given back
 * only after the use. Memory that another library or the program owns has no lease. Such memory is only kept reachable,
 * and its owner must not free it during the use.
 */
public final class TensorLeases {
    private final List<MemoryLease> leases = new ArrayList<>();
    private final AtomicBoolean over = new AtomicBoolean();

    private TensorLeases() {}

    /**
     * Begins a use of tensors; an element may be null. The caller must call {@link #end} later, unless the device may
     * use the memory for ever.
     *
     * @throws IllegalStateException if the memory of a tensor has been released; the use then does not begin
     */
    public static TensorLeases of(Tensor... tensors) {
        TensorLeases use = new TensorLeases();
        try {
            for (Tensor tensor : tensors) {
                if (tensor instanceof DeviceTensor on && on.owner() instanceof MemoryLease lease) {
                    lease.enter();
                    use.leases.add(lease);
                }
            }
        } catch (IllegalStateException givenBack) {
            use.end();
            throw givenBack;
        }
        return use;
    }

    /** Ends the use, once, on any thread. */
    public void end() {
        if (over.compareAndSet(false, true)) {
            leases.forEach(MemoryLease::leave);
        }
    }
}
