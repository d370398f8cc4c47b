package ferro.collectives;

import ferro.HostTensor;
import java.util.BitSet;

/** Runs each operation by the one that can: over shared memory what is prepared for that, over links the rest. */
final class Runners implements Runner {
    private final Runner overLinks;
    private Runner overMemory;
    private Runner current;

    Runners(Runner overLinks) {
        this.overLinks = overLinks;
        this.overMemory = overLinks;
        this.current = overLinks;
    }

    /** Says what runs programs; before the first of them. */
    void share(Runner runner) {
        overMemory = runner;
    }

    private Runner of(Prepared prepared) {
        return prepared.program == null ? overLinks : overMemory;
    }

    @Override
    public void begin(Operation operation) {
        Runner next = of(operation.prepared());
        next.begin(operation);
        current = next;
    }

    @Override
    public boolean beginBehind(Operation operation) {
        return of(operation.prepared()) == current && current.beginBehind(operation);
    }

    @Override
    public boolean advance() {
        return current.advance();
    }

    @Override
    public void forget() {
        current.forget();
    }

    @Override
    public boolean isFinished() {
        return current.isFinished();
    }

    @Override
    public BitSet waitingFor() {
        return current.waitingFor();
    }

    @Override
    public String progress() {
        return current.progress();
    }

    @Override
    public PendingWork.Position position(int behind) {
        return current.position(behind);
    }

    @Override
    public boolean usesLinks() {
        return current.usesLinks();
    }

    @Override
    public boolean show(Prepared prepared, long sequence, HostTensor in) {
        return of(prepared).show(prepared, sequence, in);
    }

    @Override
    public boolean take(Prepared prepared, long sequence, HostTensor in, HostTensor out) {
        return of(prepared).take(prepared, sequence, in, out);
    }
}
