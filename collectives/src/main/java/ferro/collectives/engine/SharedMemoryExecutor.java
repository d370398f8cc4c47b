package ferro.collectives.engine;

import ferro.collectives.shared.SegmentView;
import ferro.collectives.shared.SharedMachine;
import ferro.control.wire.RankLists;

/** An executor of programs in shared memory: a {@link SharedMachine} that runs the engine's operations. */
final class SharedMemoryExecutor extends SharedMachine implements Executor {
    /** Makes an executor for the segments of all ranks. */
    SharedMemoryExecutor(SegmentView view) {
        super(view);
    }

    @Override
    public void begin(Operation operation) {
        Prepared prepared = operation.prepared();
        begin(prepared.program, operation, operation.in(), operation.out(), prepared.completing);
    }

    @Override
    public PendingWork.Position position(int behind) {
        return new PendingWork.Position(step(), bytesMoved(), RankLists.numbers(waitingFor()));
    }

    @Override
    public boolean usesLinks() {
        return false;
    }
}
