package ferro.backend.nccl.comm;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.backend.nccl.memory.HostBytes;
import ferro.backend.nccl.memory.HostStage;
import ferro.backend.nccl.queue.CommIdentity;
import ferro.backend.nccl.queue.NcclOperation;

/**
 * Sends a message from host memory, or receives it there: first its length, then its bytes. The receiver refuses a message
 * of another length than announced before receiving any of it.
 */
final class MessageRounds implements HostJob.Rounds {
    private final HostTensor message;
    private final int peer;
    private final boolean sends;
    private final HostStage stage;
    private final CollectiveCalls calls;
    private final int pieceLength;
    /** Whether the round with the length has begun, and whether it has ended. */
    private boolean announced;

    private boolean answered;
    private long moved;
    private int length;
    private int bytes;

    MessageRounds(HostTensor message, int peer, boolean sends, HostStage stage, CollectiveCalls calls) {
        this.message = message;
        this.peer = peer;
        this.sends = sends;
        this.stage = stage;
        this.calls = calls;
        this.pieceLength = stage.mostBytes() / message.dataType().byteSize();
    }

    @Override
    public boolean hasNext() {
        return !(sends ? announced : answered) || moved < message.elementCount();
    }

    @Override
    public long stageBytes() {
        return Math.max(Long.BYTES, Math.min(stage.mostBytes(), message.byteCount()));
    }

    @Override
    public void begin(long comm, long stream) {
        if (!announced) {
            announced = true;
            bytes = Long.BYTES;
            if (sends) {
                stage.toDevice().putLong(0, message.byteCount());
            }
        } else {
            length = (int) Math.min(pieceLength, message.elementCount() - moved);
            bytes = length * message.dataType().byteSize();
            if (sends) {
                HostBytes.read(message, moved, length, stage.toDevice(), 0);
            }
            moved += length;
        }
        if (sends) {
            stage.upload(bytes, stream);
        }
        NcclOperation operation = sends ? NcclOperation.SEND : NcclOperation.RECV;
        calls.of(CollectiveCalls.NativeCall.message(operation, sends ? stage.in() : stage.out(), bytes, peer))
                .make(comm, stream);
    }

    @Override
    public void collect(long stream) {
        if (!sends) {
            stage.download(stage.out(), bytes, stream);
        }
    }

    @Override
    public void finish() {
        if (sends) {
            // the receiver has the bytes now
            return;
        }
        if (answered) {
            HostBytes.write(stage.fromDevice(), 0, message, moved - length, length);
            return;
        }
        long other = stage.fromDevice().getLong(0);
        if (other != message.byteCount()) {
            CommIdentity identity = calls.identity();
            int rank = identity.rank();
            throw new FerroException(
                    Code.MISMATCH,
                    identity.where(NcclOperation.RECV, 0).blaming(peer, rank),
                    "rank " + peer + " sent " + other + " bytes, but rank " + rank + " receives " + message.byteCount()
                            + " bytes: both lengths must be equal");
        }
        answered = true;
    }
}
