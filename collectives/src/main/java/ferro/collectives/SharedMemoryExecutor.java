package ferro.collectives;

import ferro.collectives.control.Names;
import ferro.collectives.shared.SharedMachine;

/** Executes programs over shared memory: the machine, given the engine's operations. */
final class SharedMemoryExecutor extends SharedMachine implements Executor {
    SharedMemoryExecutor(Place place) {
        super(place);
    }

    @Override
    public void begin(Operation operation) {
        Prepared prepared = operation.prepared();
        begin(prepared.program, operation, operation.in(), operation.out(), prepared.combining);
    }

    @Override
    public PendingWork.Position position(int behind) {
        return new PendingWork.Position(step(), bytesMoved(), Names.list(waitingFor()));
    }

    @Override
    public boolean usesLinks() {
        return false;
    }
}
