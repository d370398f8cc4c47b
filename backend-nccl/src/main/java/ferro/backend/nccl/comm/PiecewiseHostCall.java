package ferro.backend.nccl.comm;

import ferro.Collective;
import ferro.CollectiveKind;
import ferro.DataType;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.Message;
import ferro.backend.nccl.comm.NativeCaller.NativeCall;
import ferro.backend.nccl.memory.HostMemoryCopier;
import ferro.backend.nccl.memory.HostStagingBlocks;
import ferro.backend.nccl.queue.CollectiveFingerprint;
import ferro.backend.nccl.queue.CommIdentity;
import ferro.backend.nccl.queue.NcclOperation;

/**
 * Runs a collective or a message on host tensors in pieces. The pieces of a collective are the same on every rank. A
 * rank copies only the data that it needs. Memory into which a rank receives nothing stays unchanged.
 *
 * <p>The first round of a message carries the length of the message. The receiver refuses a message of another length
 * before it receives any data.
 */
final class PiecewiseHostCall {
    private final HostStagingBlocks stage;
    private final NativeCaller calls;
    /** Null for a message. */
    private final Collective call;
    /** The other rank of a message. */
    private final int peer;

    private final HostTensor reads;
    private final HostTensor writes;
    private final DataType type;
    private final int partsIn;
    private final int partsOut;
    private final long partLength;
    private final int pieceLength;
    /** Whether the round with the length of a message is still to run, or the receiver has not read its result. */
    private boolean announcing;

    private long from;
    /** Elements of a part in this round; 0 in the round with the length of a message. */
    private int length;

    PiecewiseHostCall(Collective call, HostStagingBlocks stage, NativeCaller calls) {
        CommIdentity identity = calls.identity();
        this.stage = stage;
        this.calls = calls;
        this.call = call;
        this.peer = -1;
        this.reads = (HostTensor) call.reads(identity.rank());
        this.writes = (HostTensor) call.writes(identity.rank());
        this.type = call.operand().dataType();
        CollectiveKind kind = call.kind();
        this.partsIn = NativeCaller.parts(kind, kind.in(), identity.worldSize());
        this.partsOut = NativeCaller.parts(kind, kind.out(), identity.worldSize());
        this.partLength = CollectiveFingerprint.partOf(call, identity.worldSize());
        this.pieceLength = pieceLength();
    }

    PiecewiseHostCall(Message message, HostStagingBlocks stage, NativeCaller calls) {
        HostTensor tensor = (HostTensor) message.tensor();
        this.stage = stage;
        this.calls = calls;
        this.call = null;
        this.peer = message.peer();
        this.reads = message.kind().isSend() ? tensor : null;
        this.writes = message.kind().isSend() ? null : tensor;
        this.type = tensor.dataType();
        this.partsIn = 1;
        this.partsOut = 1;
        this.partLength = tensor.elementCount();
        this.pieceLength = pieceLength();
        this.announcing = true;
    }

    private int pieceLength() {
        long most = stage.mostBytes() / ((long) Math.max(partsIn, partsOut) * type.byteSize());
        return (int) Math.min(Math.max(1, most), partLength);
    }

    /** Returns whether another round follows. */
    boolean hasNext() {
        return announcing || from < partLength;
    }

    private int bytes(int parts) {
        return length == 0 ? Long.BYTES : parts * length * type.byteSize();
    }

    /** Returns the size that the blocks of the stage need: at least the bytes of the next round. */
    long stageBytes() {
        return Math.max(Long.BYTES, (long) Math.max(partsIn, partsOut) * pieceLength * type.byteSize());
    }

    /** Fills the stage, and queues the upload and the native call of an ncclComm_t on the stream. */
    void begin(long comm, long stream) {
        length = announcing ? 0 : (int) Math.min(pieceLength, partLength - from);
        if (reads != null) {
            if (length == 0) {
                stage.toDevice().putLong(0, reads.byteCount());
            } else {
                for (int part = 0; part < partsIn; part++) {
                    HostMemoryCopier.read(reads, part * partLength + from, length, stage.toDevice(), bytes(part));
                }
            }
            stage.upload(bytes(partsIn), stream);
        }
        calls.of(nativeCall()).make(comm, stream);
    }

    private NativeCall nativeCall() {
        if (call != null) {
            return NativeCall.of(call, stage.in(), out(), length);
        }
        return reads == null
                ? NativeCall.message(NcclOperation.RECV, out(), bytes(1), peer)
                : NativeCall.message(NcclOperation.SEND, stage.in(), bytes(1), peer);
    }

    private long out() {
        return call != null && call.kind() == CollectiveKind.BROADCAST ? stage.in() : stage.out();
    }

    /** Queues the download after NCCL has accepted the call, which may not be on the stream before. */
    void collect(long stream) {
        if (writes == null) {
            announcing = false;
        } else {
            stage.download(out(), bytes(partsOut), stream);
        }
        from += length;
    }

    /** Copies the results of the round out of the stage. */
    void finish() {
        if (writes == null) {
            return;
        }
        if (length == 0) {
            checkLength(stage.fromDevice().getLong(0));
            announcing = false;
            return;
        }
        for (int part = 0; part < partsOut; part++) {
            HostMemoryCopier.write(stage.fromDevice(), bytes(part), writes, part * partLength + from - length, length);
        }
    }

    private void checkLength(long other) {
        CommIdentity identity = calls.identity();
        int rank = identity.rank();
        if (other != writes.byteCount()) {
            throw new FerroException(
                    Code.MISMATCH,
                    identity.where(NcclOperation.RECV, 0).blaming(peer, rank),
                    "rank " + peer + " sent " + other + " bytes, but rank " + rank + " receives " + writes.byteCount()
                            + " bytes: both lengths must be equal");
        }
    }
}
