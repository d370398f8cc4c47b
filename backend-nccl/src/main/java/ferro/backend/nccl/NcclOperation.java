package ferro.backend.nccl;

import ferro.Collective;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What a communicator can be asked for, under ferro's name and under the one that failures of NCCL begin with. */
enum NcclOperation {
    /** Joining. */
    INIT("init", "NCCL comm_init_rank"),
    /** Reduces into every rank. */
    ALL_REDUCE("allReduce", "NCCL allreduce"),
    /** Copies from the root. */
    BROADCAST("broadcast", "NCCL broadcast"),
    /** Reduces into the root. */
    REDUCE("reduce", "NCCL reduce"),
    /** Joins parts on every rank. */
    ALL_GATHER("allGather", "NCCL all_gather"),
    /** Reduces, and leaves part r on rank r. */
    REDUCE_SCATTER("reduceScatter", "NCCL reduce_scatter"),
    /** Joins parts on the root. */
    GATHER("gather", "NCCL gather"),
    /** Hands out the parts of the root. */
    SCATTER("scatter", "NCCL scatter"),
    /** Exchanges parts. */
    ALL_TO_ALL("allToAll", "NCCL all_to_all"),
    /** Sends to one rank. */
    SEND("send", "NCCL send"),
    /** Receives from one rank. */
    RECV("recv", "NCCL recv"),
    /** Waits for every rank. */
    BARRIER("barrier", "NCCL barrier (allreduce)"),
    /** Several calls at once. */
    GROUP("grouped", "NCCL group"),
    /** Waits for a stream. */
    SYNCHRONIZE("synchronize", "cudaStreamSynchronize"),
    /** Copies on the device. */
    COPY("copy", "cudaMemcpyAsync"),
    /** Makes a group of some ranks. */
    NEW_GROUP("newGroup", "NCCL comm_init_rank"),
    /** Prepares what a collective needs. */
    PREPARE("prepare", "CUDA preparation"),
    /** Hands each communicator to a thread of its own. */
    SPLIT("split", "NCCL split"),
    /** Ends. */
    CLOSE("close", "NCCL close");

    private static final Map<String, NcclOperation> BY_LABEL = Stream.of(values())
            .filter(one -> one.compareTo(ALL_REDUCE) >= 0 && one.compareTo(ALL_TO_ALL) <= 0 || one == BARRIER)
            .collect(Collectors.toUnmodifiableMap(NcclOperation::label, Function.identity()));

    private final String label;
    private final String failing;

    NcclOperation(String label, String failing) {
        this.label = label;
        this.failing = failing;
    }

    /** Returns which one a collective is: the one place where kinds are told apart by their names. */
    static NcclOperation of(Collective call) {
        NcclOperation known = BY_LABEL.get(call.kind());
        if (known == null) {
            throw new UnsupportedOperationException("the NCCL back end has no " + call.kind());
        }
        return known;
    }

    /** Returns whether every rank needs something of every other, so that none returns before all have called. */
    boolean needsAllOfAll() {
        return switch (this) {
            case ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, ALL_TO_ALL, BARRIER -> true;
            default -> false;
        };
    }

    /** Returns ferro's name, for example {@code allReduce}. */
    String label() {
        return label;
    }

    /** Returns the name before {@code failed}, for example {@code NCCL allreduce}. */
    String failing() {
        return failing;
    }
}
