package ferro.benchmarks;

import ferro.CollectiveKind;
import java.util.Arrays;
import java.util.List;

/** The operations that can be measured. Sizes and bus bandwidth are counted as in nccl-tests. */
public enum Measured {
    /** In place; the size is that of each rank's tensor. */
    ALLREDUCE(CollectiveKind.ALL_REDUCE),
    /** The size is that of the tensor. */
    BROADCAST(CollectiveKind.BROADCAST),
    /** The size is that of each rank's tensor. */
    REDUCE(CollectiveKind.REDUCE),
    /** The size is that of the joined tensor. */
    ALLGATHER(CollectiveKind.ALL_GATHER),
    /** The size is that of each rank's input. */
    REDUCESCATTER(CollectiveKind.REDUCE_SCATTER),
    /** The size is that of the joined tensor. */
    GATHER(CollectiveKind.GATHER),
    /** The size is that of the root's tensor. */
    SCATTER(CollectiveKind.SCATTER),
    /** The size is that of each rank's input. */
    ALLTOALL(CollectiveKind.ALL_TO_ALL),
    /** In place; the size is that of each rank's tensor. */
    SCAN(CollectiveKind.SCAN),
    /** No data. */
    BARRIER(CollectiveKind.BARRIER),
    /** Messages between ranks 0 and 1; the size is that of one message, the time that of one direction. */
    PINGPONG(null);

    private final CollectiveKind kind;

    Measured(CollectiveKind kind) {
        this.kind = kind;
    }

    /** {@return all names that users type, in the order of this enum} */
    public static List<String> labels() {
        return Arrays.stream(values()).map(Measured::label).toList();
    }

    /**
     * Finds a collective by the name that users type.
     *
     * @param name for example {@code allreduce}
     * @return what to measure
     * @throws IllegalArgumentException listing the names if there is no such name
     */
    public static Measured parse(String name) {
        for (Measured measured : values()) {
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

    /** Whether the tensor consists of one part per rank. */
    boolean inParts() {
        return kind != null && kind.hasParts();
    }

    /** Whether a rank has input that the call does not change, so that a bench may write it again before every call. */
    boolean readsInput(boolean root) {
        return switch (this) {
            case REDUCE, ALLGATHER, REDUCESCATTER, GATHER, ALLTOALL -> true;
            case BROADCAST, SCATTER -> root;
            case ALLREDUCE, SCAN, BARRIER, PINGPONG -> false;
        };
    }

    /** Returns the number of operations in one call: a ping-pong is two messages. */
    int timesPerCall() {
        return this == PINGPONG ? 2 : 1;
    }

    /** Returns the bytes that cross the busiest link per byte of size, so that different world sizes are comparable. */
    double busFactor(int ranks) {
        return switch (this) {
            case ALLREDUCE -> 2.0 * (ranks - 1) / ranks;
            case ALLGATHER, REDUCESCATTER, GATHER, SCATTER, ALLTOALL -> (double) (ranks - 1) / ranks;
            case BROADCAST, REDUCE, SCAN, PINGPONG -> 1;
            case BARRIER -> 0;
        };
    }
}
