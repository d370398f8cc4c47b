package ferro.backend.nccl.comm;

import ferro.Tensor;
import ferro.backend.nccl.memory.TensorLeases;
import ferro.backend.nccl.queue.NativeOperation;
import ferro.backend.nccl.queue.NcclOperation;
import java.lang.ref.Reference;
import java.util.function.Supplier;

/**
 * An operation on device memory. The operation waits for the work on the default stream, is issued to NCCL, and ends
 * when an event that was recorded after it has completed.
 *
 * <p>The operation uses its tensors until it has ended ({@link TensorLeases}). If a tensor is closed earlier, the
 * memory of the tensor is reused only after the operation has ended.
 */
final class DeviceOperation implements NativeOperation {
    private final CommStream lane;
    private final NcclOperation operation;
    private final Supplier<CommStream.StreamCaller> calls;
    /** Tensors of the call. Their owners must stay reachable until the operation has ended. */
    private final Tensor[] kept;

    private final TensorLeases use;
    private boolean made;
    private long event;

    /**
     * Prepares an operation and begins to use its tensors. An absent tensor is null. The device thread creates the
     * native calls before it makes the stream wait for the default stream.
     *
     * @throws IllegalStateException if the memory of a tensor has been released
     */
    DeviceOperation(CommStream lane, NcclOperation operation, Supplier<CommStream.StreamCaller> calls, Tensor... kept) {
        this.lane = lane;
        this.operation = operation;
        this.calls = calls;
        this.kept = kept;
        this.use = TensorLeases.of(kept);
    }

    @Override
    public boolean issue() {
        if (!made) {
            // the native calls may use memory from the pool that work on the default stream still uses
            CommStream.StreamCaller ready = calls.get();
            lane.afterDefaultStream();
            made = true;
            lane.call(operation, ready);
        }
        if (!lane.comm().hasTaken()) {
            return false;
        }
        event = lane.recordEvent();
        return true;
    }

    @Override
    public boolean passed() {
        return event == 0 || lane.passed(event);
    }

    @Override
    public void cutOff() {
        if (made) {
            giveBackEvent();
            event = lane.recordEvent();
        }
    }

    @Override
    public void end() {
        giveBackEvent();
        drop();
    }

    @Override
    public void drop() {
        use.end();
        Reference.reachabilityFence(kept);
    }

    private void giveBackEvent() {
        if (event != 0) {
            lane.giveBack(event);
            event = 0;
        }
    }
}
