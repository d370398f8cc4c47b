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
 * rank copies only the data that it sends or receives. Memory into which a rank receives nothing stays unchanged.
 *
 * <p>The first round of a message carries the length of the message. The receiver refuses a message of another length
 * before it receives any data.
 */
final class PiecewiseHostCall {
    private final HostStagingBlocks stage;
    private final NativeCaller calls;
    /** The collective; null if this object runs a message. */
    private final Collective call;
    /** The other rank of a message; -1 if this object runs a collective. */
    private final int peer;

    private final HostTensor reads;
    private final HostTensor writes;
    private final DataType type;
    private final int partsIn;
    private final int partsOut;
    private final long partLength;
    private final int pieceLength;
    /**
     * Whether the first round of a message, which carries the length, is not finished. The receiver's round is finished
     * when it has checked the length.
     */
    private boolean announcing;

    private long from;
    /** Number of elements of each part in this round; 0 in the first round of a message, which carries the length. */
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

    /** Returns the size that the staging blocks must have. It is enough for every round. */
    long stageBytes() {
        return Math.max(Long.BYTES, (long) Math.max(partsIn, partsOut) * pieceLength * type.byteSize());
    }

    /**
     * Begins a round: copies data to the staging memory, and queues the upload and the native call on the stream.
     * {@code comm} is the address of the ncclComm_t.
     */
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

    /**
     * Queues the download. Called after NCCL has accepted the call, because NCCL may put the call on the stream only
     * then.
     */
    void collect(long stream) {
        if (writes == null) {
            announcing = false;
        } else {
            stage.download(out(), bytes(partsOut), stream);
        }
        from += length;
    }

    /**
     * Copies the results of the round from the staging memory to the tensor, or checks the length in the first round of
     * a message.
     */
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
