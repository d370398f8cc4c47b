package ferro.backend.nccl.comm;

import ferro.HostTensor;
import ferro.backend.nccl.memory.HostBytes;
import ferro.backend.nccl.memory.HostStage;
import ferro.backend.nccl.queue.NcclOperation;

/** Sends a message from host memory: first its length, then its bytes, so that the receiver detects a wrong length. */
final class SendRounds implements HostJob.Rounds {
    private final HostTensor message;
    private final int to;
    private final HostStage stage;
    private final CollectiveCalls calls;
    private final int pieceLength;
    private boolean announced;
    private long from;

    SendRounds(HostTensor message, int to, HostStage stage, CollectiveCalls calls) {
        this.message = message;
        this.to = to;
        this.stage = stage;
        this.calls = calls;
        this.pieceLength = stage.mostBytes() / message.dataType().byteSize();
    }

    @Override
    public boolean hasNext() {
        return !announced || from < message.elementCount();
    }

    @Override
    public long stageBytes() {
        return Math.max(Long.BYTES, Math.min(stage.mostBytes(), message.byteCount()));
    }

    @Override
    public void begin(long comm, long stream) {
        if (!announced) {
            stage.toDevice().putLong(0, message.byteCount());
            transfer(Long.BYTES, comm, stream);
            announced = true;
            return;
        }
        int length = (int) Math.min(pieceLength, message.elementCount() - from);
        HostBytes.read(message, from, length, stage.toDevice(), 0);
        transfer(length * message.dataType().byteSize(), comm, stream);
        from += length;
    }

    private void transfer(int bytes, long comm, long stream) {
        stage.upload(bytes, stream);
        calls.of(CollectiveCalls.NativeCall.message(NcclOperation.SEND, stage.in(), bytes, to))
                .make(comm, stream);
    }

    @Override
    public void collect(long stream) {
        // nothing comes back
    }

    @Override
    public void finish() {
        // the receiver has the message now
    }
}
