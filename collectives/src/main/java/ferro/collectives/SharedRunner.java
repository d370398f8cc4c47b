package ferro.collectives;

import ferro.HostTensor;
import ferro.collectives.control.Names;
import ferro.collectives.shared.SharedMachine;
import java.util.BitSet;

/** Executes programs over shared memory. */
final class SharedRunner implements Runner {
    private final SharedMachine machine;

    SharedRunner(SharedMachine machine) {
        this.machine = machine;
    }

    @Override
    public void begin(Operation operation) {
        Prepared prepared = operation.prepared();
        machine.begin(prepared.program, operation, operation.in(), operation.out(), prepared.combining);
    }

    @Override
    public boolean advance() {
        return machine.advance();
    }

    @Override
    public void forget() {
        machine.forget();
    }

    @Override
    public boolean isFinished() {
        return machine.isFinished();
    }

    @Override
    public BitSet waitingFor() {
        return machine.waitingFor();
    }

    @Override
    public String progress() {
        return machine.progress();
    }

    @Override
    public PendingWork.Position position(int behind) {
        return new PendingWork.Position(machine.step(), machine.bytesMoved(), Names.list(waitingFor()));
    }

    @Override
    public boolean show(Prepared prepared, long sequence, HostTensor in) {
        return machine.show(prepared.program, sequence, prepared.call, in);
    }

    @Override
    public boolean take(Prepared prepared, long sequence, HostTensor in, HostTensor out) {
        if (!machine.isThere(prepared.program, prepared.call)) {
            return false;
        }
        machine.take(prepared.program, prepared.call, in, out, prepared.combining);
        return true;
    }

    @Override
    public boolean usesLinks() {
        return false;
    }
}
