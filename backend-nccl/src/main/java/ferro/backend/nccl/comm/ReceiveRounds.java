package ferro.backend.nccl.comm;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.backend.nccl.memory.HostBytes;
import ferro.backend.nccl.memory.HostStage;
import ferro.backend.nccl.queue.CommIdentity;
import ferro.backend.nccl.queue.NcclOperation;

/** Receives a message into host memory. Refuses one of another length than announced before receiving any of it. */
final class ReceiveRounds implements HostJob.Rounds {
    private final HostTensor message;
    private final int from;
    private final HostStage stage;
    private final CollectiveCalls calls;
    private final CommIdentity identity;
    private final int pieceLength;
    private boolean asked;
    private boolean answered;
    private long to;
    private int length;
    private int arriving;

    ReceiveRounds(HostTensor message, int from, HostStage stage, CollectiveCalls calls, CommIdentity identity) {
        this.message = message;
        this.from = from;
        this.stage = stage;
        this.calls = calls;
        this.identity = identity;
        this.pieceLength = stage.mostBytes() / message.dataType().byteSize();
    }

    @Override
    public boolean hasNext() {
        return !answered || to < message.elementCount();
    }

    @Override
    public long stageBytes() {
        return Math.max(Long.BYTES, Math.min(stage.mostBytes(), message.byteCount()));
    }

    @Override
    public void begin(long comm, long stream) {
        if (!asked) {
            asked = true;
            transfer(Long.BYTES, comm, stream);
            return;
        }
        length = (int) Math.min(pieceLength, message.elementCount() - to);
        transfer(length * message.dataType().byteSize(), comm, stream);
        to += length;
    }

    private void transfer(int bytes, long comm, long stream) {
        calls.of(CollectiveCalls.NativeCall.message(NcclOperation.RECV, stage.out(), bytes, from))
                .make(comm, stream);
        arriving = bytes;
    }

    @Override
    public void collect(long stream) {
        stage.download(stage.out(), arriving, stream);
    }

    @Override
    public void finish() {
        if (answered) {
            HostBytes.write(stage.fromDevice(), 0, message, to - length, length);
            return;
        }
        long announced = stage.fromDevice().getLong(0);
        if (announced != message.byteCount()) {
            int rank = identity.rank();
            throw new FerroException(
                    Code.MISMATCH,
                    identity.where(NcclOperation.RECV, 0).blaming(from, rank),
                    "rank " + from + " sent " + announced + " bytes, but rank " + rank + " receives "
                            + message.byteCount() + " bytes: both lengths must be equal");
        }
        answered = true;
    }
}
