package ferro;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * The kinds of {@link Collective}, and what of the data each rank has before and after; the one place that knows.
 *
 * <p>Text has a kind as the method of {@code ProcessGroup}: {@link #label}, which {@link #toString} returns as well.
 */
public enum CollectiveKind {
    /** Combines the operands of all ranks, on every rank. */
    ALL_REDUCE("allReduce", Held.ALL, Held.ALL),
    /** Copies the root's data to every rank. */
    BROADCAST("broadcast", Held.ALL_ON_ROOT, Held.ALL_OFF_ROOT),
    /** Combines the operands of all ranks, on the root. */
    REDUCE("reduce", Held.ALL, Held.ALL_ON_ROOT),
    /** Puts the parts of all ranks together, on every rank. */
    ALL_GATHER("allGather", Held.PART, Held.ALL),
    /** Combines the operands of all ranks, of which each rank gets its part. */
    REDUCE_SCATTER("reduceScatter", Held.ALL, Held.PART),
    /** Puts the parts of all ranks together, on the root. */
    GATHER("gather", Held.PART, Held.ALL_ON_ROOT),
    /** Hands out the root's data, of which each rank gets its part. */
    SCATTER("scatter", Held.ALL_ON_ROOT, Held.PART),
    /** Hands out every rank's data, of which each rank gets its part. */
    ALL_TO_ALL("allToAll", Held.ALL, Held.ALL),
    /** Waits for all ranks. */
    BARRIER("barrier", Held.NONE, Held.NONE);

    private final String label;
    private final Held in;
    private final Held out;

    CollectiveKind(String label, Held in, Held out) {
        this.label = label;
        this.in = in;
        this.out = out;
    }

    /** What a rank has of the data of an operation. */
    public enum Held {
        /** Nothing: there is no data. */
        NONE,
        /** All of it; where it has parts, those of all ranks. */
        ALL,
        /** The part of its own rank. */
        PART,
        /** All of it on the root, nothing elsewhere. */
        ALL_ON_ROOT,
        /** Nothing on the root, all of it elsewhere. */
        ALL_OFF_ROOT;

        /**
         * Returns whether a rank has all of the data.
         *
         * @param isRoot whether it is the root
         * @return false if it has a part or nothing
         */
        public boolean isAll(boolean isRoot) {
            return this == ALL || this == (isRoot ? ALL_ON_ROOT : ALL_OFF_ROOT);
        }
    }

    /**
     * Returns the name of the operation, as the method of {@code ProcessGroup} has it.
     *
     * @return for example {@code allReduce}
     */
    public String label() {
        return label;
    }

    /**
     * Finds a kind by its label.
     *
     * @param label for example {@code allReduce}
     * @return kind
     * @throws IllegalArgumentException listing the labels if there is no such kind
     */
    public static CollectiveKind parse(String label) {
        Objects.requireNonNull(label, "label");
        for (CollectiveKind kind : values()) {
            if (kind.label.equals(label)) {
                return kind;
            }
        }
        List<CollectiveKind> all = Arrays.asList(values());
        throw new IllegalArgumentException("no collective \"" + label + "\": use one of " + all);
    }

    /**
     * Returns what a rank gives.
     *
     * @return how much of the data
     */
    public Held in() {
        return in;
    }

    /**
     * Returns what a rank gets.
     *
     * @return how much of the data
     */
    public Held out() {
        return out;
    }

    /**
     * Returns whether one rank has a role of its own.
     *
     * @return true if calls name a root
     */
    public boolean isRooted() {
        return in == Held.ALL_ON_ROOT || out == Held.ALL_ON_ROOT;
    }

    /**
     * Returns whether operands of ranks are combined.
     *
     * @return true if calls have a {@link ReduceOp}
     */
    public boolean combines() {
        return this == ALL_REDUCE || this == REDUCE || this == REDUCE_SCATTER;
    }

    /**
     * Returns whether the data is cut by ranks.
     *
     * @return true if the data has one part for each rank, of lengths that may differ
     */
    public boolean hasParts() {
        return in == Held.PART || out == Held.PART || this == ALL_TO_ALL;
    }

    @Override
    public String toString() {
        return label;
    }
}
