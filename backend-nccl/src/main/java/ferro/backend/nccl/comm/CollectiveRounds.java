package ferro.backend.nccl.comm;

import ferro.Collective;
import ferro.CollectiveKind;
import ferro.DataType;
import ferro.HostTensor;
import ferro.Tensor;
import ferro.backend.nccl.memory.HostBytes;
import ferro.backend.nccl.memory.HostStage;
import ferro.backend.nccl.queue.CollectivePrint;
import ferro.backend.nccl.queue.CommIdentity;

/**
 * Runs a collective on host tensors in pieces, the same pieces on every rank. A rank copies only what it needs, and
 * memory that it does not receive into stays unchanged.
 */
final class CollectiveRounds implements HostJob.Rounds {
    private final Collective call;
    private final HostStage stage;
    private final CollectiveCalls calls;
    private final HostTensor reads;
    private final HostTensor writes;
    private final DataType type;
    private final int partsIn;
    private final int partsOut;
    private final long partLength;
    private final int pieceLength;
    private long from;

    CollectiveRounds(Collective call, HostStage stage, CollectiveCalls calls) {
        CommIdentity identity = calls.identity();
        this.call = call;
        this.stage = stage;
        this.calls = calls;
        this.reads = (HostTensor) call.reads(identity.rank());
        this.writes = (HostTensor) call.writes(identity.rank());
        Tensor operand = call.operand();
        this.type = operand.dataType();
        CollectiveKind kind = call.kind();
        this.partsIn = CollectiveCalls.parts(kind, kind.in(), identity.worldSize());
        this.partsOut = CollectiveCalls.parts(kind, kind.out(), identity.worldSize());
        this.partLength = CollectivePrint.partOf(call, identity.worldSize());
        long most = stage.mostBytes() / ((long) Math.max(partsIn, partsOut) * type.byteSize());
        this.pieceLength = (int) Math.min(Math.max(1, most), partLength);
    }

    @Override
    public boolean hasNext() {
        return from < partLength;
    }

    private int length() {
        return (int) Math.min(pieceLength, partLength - from);
    }

    private int bytes(int parts) {
        return parts * length() * type.byteSize();
    }

    @Override
    public long stageBytes() {
        return (long) Math.max(partsIn, partsOut) * pieceLength * type.byteSize();
    }

    @Override
    public void begin(long comm, long stream) {
        if (reads != null) {
            for (int part = 0; part < partsIn; part++) {
                HostBytes.read(reads, part * partLength + from, length(), stage.toDevice(), bytes(part));
            }
            stage.upload(bytes(partsIn), stream);
        }
        calls.of(CollectiveCalls.NativeCall.of(call, stage.in(), out(), length()))
                .make(comm, stream);
    }

    @Override
    public void collect(long stream) {
        if (writes != null) {
            stage.download(out(), bytes(partsOut), stream);
        }
        from += length();
    }

    private long out() {
        return call.kind() == CollectiveKind.BROADCAST ? stage.in() : stage.out();
    }

    @Override
    public void finish() {
        if (writes == null) {
            return;
        }
        int length = (int) ((from - 1) % pieceLength) + 1;
        long first = from - length;
        for (int part = 0; part < partsOut; part++) {
            HostBytes.write(
                    stage.fromDevice(), part * length * type.byteSize(), writes, part * partLength + first, length);
        }
    }
}
