package ferro.backend.nccl.memory;

import ferro.DeviceTensor;
import ferro.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The use of tensors by one operation. If the owner of a block is closed meanwhile, the block is given back only after
 * the use. Memory of a foreign owner has no lease. Such memory is kept reachable, and its owner must not free it before
 * the end.
 */
public final class TensorLeases {
    private final List<MemoryLease> leases = new ArrayList<>();
    private final AtomicBoolean over = new AtomicBoolean();

    private TensorLeases() {}

    /**
     * Begins a use of tensors; null for none. {@link #end} must follow, unless the device may use the memory for ever.
     *
     * @throws IllegalStateException if the memory of a tensor has been released; then no use begins
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
