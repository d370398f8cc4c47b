package ferro.benchmarks;

import java.util.Arrays;
import java.util.List;

/** What can be measured; sizes and bus bandwidth are counted as nccl-tests counts them. */
public enum Measured {
    /** In place; the size is that of each rank's tensor. */
    ALLREDUCE(true),
    /** The size is that of the tensor. */
    BROADCAST(false),
    /** The size is that of each rank's tensor. */
    REDUCE(true),
    /** The size is that of the joined tensor. */
    ALLGATHER(false),
    /** The size is that of each rank's input. */
    REDUCESCATTER(true),
    /** The size is that of the joined tensor. */
    GATHER(false),
    /** The size is that of the root's tensor. */
    SCATTER(false),
    /** The size is that of each rank's input. */
    ALLTOALL(false),
    /** No data. */
    BARRIER(false),
    /** Ranks 0 and 1; the size is that of one message, the time that of one way. */
    PINGPONG(false);

    private final boolean reduces;

    Measured(boolean reduces) {
        this.reduces = reduces;
    }

    /**
     * Returns all names that users type.
     *
     * @return in the order of this enum
     */
    public static List<String> labels() {
        return Arrays.stream(values()).map(Measured::label).toList();
    }

    /**
     * Finds a collective by the name that users type.
     *
     * @param name for example {@code allreduce}
     * @return what to measure
     * @throws IllegalArgumentException listing the names if there is none such
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

    /**
     * Returns the name that users type.
     *
     * @return for example {@code allreduce}
     */
    public String label() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }

    /**
     * Returns the name that the engine and its tables of algorithms have for it.
     *
     * @return for example {@code allReduce}
     */
    public String kind() {
        return switch (this) {
            case ALLREDUCE -> "allReduce";
            case ALLGATHER -> "allGather";
            case REDUCESCATTER -> "reduceScatter";
            case ALLTOALL -> "allToAll";
            default -> label();
        };
    }

    /**
     * Returns whether a reduction is part of it.
     *
     * @return whether {@code --op} means anything
     */
    public boolean reduces() {
        return reduces;
    }

    /** Whether the tensor is made of one part per rank. */
    boolean inParts() {
        return switch (this) {
            case ALLGATHER, REDUCESCATTER, GATHER, SCATTER, ALLTOALL -> true;
            case ALLREDUCE, BROADCAST, REDUCE, BARRIER, PINGPONG -> false;
        };
    }

    /** Whether a rank gives data that the call leaves as they are, so that a bench may write them anew for every call. */
    boolean readsInput(boolean root) {
        return switch (this) {
            case REDUCE, ALLGATHER, REDUCESCATTER, GATHER, ALLTOALL -> true;
            case BROADCAST, SCATTER -> root;
            case ALLREDUCE, BARRIER, PINGPONG -> false;
        };
    }

    /** Operations that count as one in the table: a ping-pong is two messages. */
    int timesPerCall() {
        return this == PINGPONG ? 2 : 1;
    }

    /** Bytes that cross the busiest link per byte of size, so that figures of different sizes of world compare. */
    double busFactor(int ranks) {
        return switch (this) {
            case ALLREDUCE -> 2.0 * (ranks - 1) / ranks;
            case ALLGATHER, REDUCESCATTER, GATHER, SCATTER, ALLTOALL -> (double) (ranks - 1) / ranks;
            case BROADCAST, REDUCE, PINGPONG -> 1;
            case BARRIER -> 0;
        };
    }
}
