package ferro.benchmarks;

import ferro.CollectiveKind;
import java.util.Arrays;
import java.util.List;

/** The operations that can be measured. Sizes and bus bandwidth are counted as in nccl-tests. */
public enum BenchOperation {
    /** All-reduce in place. The size is the size of each rank's tensor. */
    ALLREDUCE(CollectiveKind.ALL_REDUCE),
    /** Broadcast. The size is the size of the tensor. */
    BROADCAST(CollectiveKind.BROADCAST),
    /** Reduce. The size is the size of each rank's tensor. */
    REDUCE(CollectiveKind.REDUCE),
    /** All-gather. The size is the size of the joined tensor. */
    ALLGATHER(CollectiveKind.ALL_GATHER),
    /** Reduce-scatter. The size is the size of each rank's input. */
    REDUCESCATTER(CollectiveKind.REDUCE_SCATTER),
    /** Gather. The size is the size of the joined tensor. */
    GATHER(CollectiveKind.GATHER),
    /** Scatter. The size is the size of the root's tensor. */
    SCATTER(CollectiveKind.SCATTER),
    /** All-to-all. The size is the size of each rank's input. */
    ALLTOALL(CollectiveKind.ALL_TO_ALL),
    /** Scan in place. The size is the size of each rank's tensor. */
    SCAN(CollectiveKind.SCAN),
    /** Barrier, which has no data. */
    BARRIER(CollectiveKind.BARRIER),
    /** Messages between ranks 0 and 1. The size is for one message, and the time is for one direction. */
    PINGPONG(null);

    private final CollectiveKind kind;

    BenchOperation(CollectiveKind kind) {
        this.kind = kind;
    }

    /** {@return all names that users type, in the order of this enum} */
    public static List<String> labels() {
        return Arrays.stream(values()).map(BenchOperation::label).toList();
    }

    /**
     * Finds a collective by the name that users type.
     *
     * @param name for example {@code allreduce}
     * @return what to measure
     * @throws IllegalArgumentException if no collective has this name; the message lists the names
     */
    public static BenchOperation parse(String name) {
        for (BenchOperation measured : values()) {
            if (measured.label().equals(name)) {
                return measured;
            }
        }
        throw new IllegalArgumentException(
                "no collective \"" + name + "\" to measure: use one of " + String.join(" ", labels()));
    }

    /** {@return the name that users type, for example {@code allreduce}} */
    public String label() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }

    /** {@return the kind of the collective; null for messages between two ranks} */
    public CollectiveKind kind() {
        return kind;
    }

    /** {@return whether the operation reduces, so that {@code --op} has an effect} */
    public boolean reduces() {
        return kind != null && kind.combines();
    }

    /** Returns whether the tensor consists of one part per rank. */
    boolean inParts() {
        return kind != null && kind.hasParts();
    }

    /** Returns whether a rank has input that no call changes. A bench may write the input again before every call. */
    boolean readsInput(boolean root) {
        return switch (this) {
            case REDUCE, ALLGATHER, REDUCESCATTER, GATHER, ALLTOALL -> true;
            case BROADCAST, SCATTER -> root;
            case ALLREDUCE, SCAN, BARRIER, PINGPONG -> false;
        };
    }

    /** Returns the number of operations in one call. A call of a ping-pong has two messages. */
    int timesPerCall() {
        return this == PINGPONG ? 2 : 1;
    }

    /**
     * Returns the bytes that cross the busiest link per byte of size. Bandwidths with this factor are comparable
     * between world sizes.
     */
    double busFactor(int ranks) {
        return switch (this) {
            case ALLREDUCE -> 2.0 * (ranks - 1) / ranks;
            case ALLGATHER, REDUCESCATTER, GATHER, SCATTER, ALLTOALL -> (double) (ranks - 1) / ranks;
            case BROADCAST, REDUCE, SCAN, PINGPONG -> 1;
            case BARRIER -> 0;
        };
    }
}
