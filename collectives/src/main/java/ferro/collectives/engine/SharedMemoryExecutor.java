package ferro.collectives.engine;

import ferro.collectives.shared.SegmentLayout;
import ferro.collectives.shared.SharedMachine;
import ferro.control.wire.RankLists;
import ferro.spi.GroupSpec;
import ferro.spi.SharedMemory;
import ferro.spi.Transport;
import java.util.function.IntConsumer;

/** An executor of programs in shared memory: a {@link SharedMachine} that runs the engine's operations. */
final class SharedMemoryExecutor extends SharedMachine implements Executor {
    /**
     * Makes an executor for the segments of all ranks.
     *
     * @param spins how often to poll at once before yielding; 0 where ranks share cores, because a spinning rank would keep
     *     the others from their core
     */
    SharedMemoryExecutor(
            GroupSpec group,
            SegmentLayout layout,
            SharedMemory memory,
            Transport.Events events,
            IntConsumer wake,
            int spins) {
        super(group.rank(), group.worldSize(), layout, memory, events, wake, Math.max(1, spins));
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
