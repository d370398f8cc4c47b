package ferro.backend.nccl;

import java.lang.ref.Reference;

/** An operation on memory of the device: ordered after the default stream, handed over, and over when its mark has passed. */
final class DeviceJob implements NcclJob {
    private final NcclLane lane;
    private final NcclOperation operation;
    private final NcclLane.Calls calls;
    /** Tensors of the call, whose owners must live until the end. */
    private final Object kept;

    private boolean made;
    private long mark;

    DeviceJob(NcclLane lane, NcclOperation operation, NcclLane.Calls calls, Object kept) {
        this.lane = lane;
        this.operation = operation;
        this.calls = calls;
        this.kept = kept;
    }

    @Override
    public boolean issue() {
        if (!made) {
            lane.afterDefaultStream();
            made = true;
            lane.call(operation, calls);
        }
        if (!lane.taken()) {
            return false;
        }
        mark = lane.mark();
        return true;
    }

    @Override
    public boolean passed() {
        return mark == 0 || lane.passed(mark);
    }

    @Override
    public void end() {
        if (mark != 0) {
            lane.unmark(mark);
            mark = 0;
        }
        Reference.reachabilityFence(kept);
    }
}
