package ferro.backend.nccl.queue;

import ferro.Collective;
import ferro.CollectiveKind;
import ferro.recorder.CallCounter;
import java.util.EnumMap;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Operations of a communicator, with ferro's name of the operation, and with the name at the start of failure messages.
 */
public enum NcclOperation {
    /** Creates the communicator of a joining rank. */
    INIT("init", "NCCL comm_init_rank"),
    /** Reduces into every rank. */
    ALL_REDUCE(CollectiveKind.ALL_REDUCE, "NCCL allreduce"),
    /** Copies from the root. */
    BROADCAST(CollectiveKind.BROADCAST, "NCCL broadcast"),
    /** Reduces into the root. */
    REDUCE(CollectiveKind.REDUCE, "NCCL reduce"),
    /** Collects the parts of all ranks on every rank. */
    ALL_GATHER(CollectiveKind.ALL_GATHER, "NCCL all_gather"),
    /** Reduces; rank r gets part r of the result. */
    REDUCE_SCATTER(CollectiveKind.REDUCE_SCATTER, "NCCL reduce_scatter"),
    /** Collects the parts of all ranks on the root. */
    GATHER(CollectiveKind.GATHER, "NCCL gather"),
    /** Distributes the parts of the root. */
    SCATTER(CollectiveKind.SCATTER, "NCCL scatter"),
    /** Exchanges one part between every two ranks. */
    ALL_TO_ALL(CollectiveKind.ALL_TO_ALL, "NCCL all_to_all"),
    /** Sends to one rank. */
    SEND("send", "NCCL send"),
    /** Receives from one rank. */
    RECV("recv", "NCCL recv"),
    /** Waits for every rank. */
    BARRIER(CollectiveKind.BARRIER, "NCCL barrier (allreduce)"),
    /** Makes several calls in one NCCL group. */
    GROUP("grouped", "NCCL group"),
    /** Waits for a stream. */
    SYNCHRONIZE("synchronize", "cudaStreamSynchronize"),
    /** Copies on the device. */
    COPY("copy", "cudaMemcpyAsync"),
    /** Creates a subgroup. */
    NEW_GROUP("newGroup", "NCCL comm_init_rank"),
    /** Prepares resources of a collective. */
    PREPARE("prepare", "CUDA preparation"),
    /** Gives each communicator a new thread. */
    SPLIT("split", "NCCL split"),
    CLOSE("close", "NCCL close");

    private static final Map<CollectiveKind, NcclOperation> COLLECTIVES = Stream.of(values())
            .filter(one -> one.kind != null)
            .collect(Collectors.toMap(
                    one -> one.kind, one -> one, (one, other) -> one, () -> new EnumMap<>(CollectiveKind.class)));

    private final String label;
    private final String failing;
    /** The kind of a collective; null for every other operation. */
    private final CollectiveKind kind;

    NcclOperation(String label, String failing) {
        this(null, label, failing);
    }

    NcclOperation(CollectiveKind kind, String failing) {
        this(kind, kind.label(), failing);
    }

    NcclOperation(CollectiveKind kind, String label, String failing) {
        this.kind = kind;
        this.label = label;
        this.failing = failing;
    }

    /** Returns the kind of a collective; null for every other operation. */
    public CollectiveKind kind() {
        return kind;
    }

    /** Returns whether NCCL reduces data; a barrier is also a reduction. */
    public boolean combines() {
        return this == BARRIER || kind != null && kind.combines();
    }

    /** Returns the name of the parameter for the root or the other rank; null if the operation has none. */
    public String peerName() {
        if (kind != null) {
            return kind.isRooted() ? "root" : null;
        }
        return this == SEND ? "to" : this == RECV ? "from" : null;
    }

    /** Returns the index of the counter that counts the calls of this collective or message. */
    int counterIndex() {
        if (kind != null) {
            return CallCounter.indexOf(kind);
        }
        return this == SEND ? CallCounter.SEND : CallCounter.RECEIVE;
    }

    /** Returns the operation of a collective. */
    public static NcclOperation of(Collective call) {
        NcclOperation known = COLLECTIVES.get(call.kind());
        if (known == null) {
            throw new UnsupportedOperationException(
                    "NCCL has no " + call.kind() + ": copy the tensors to the host, and call it on host tensors");
        }
        return known;
    }

    /** Returns ferro's name, for example {@code allReduce}. */
    public String label() {
        return label;
    }

    /** Returns the name before {@code failed} in messages, for example {@code NCCL allreduce}. */
    public String failing() {
        return failing;
    }
}
