package ferro;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * The kinds of {@link Collective}. Each constant also defines how much of the data a rank has before and after the
 * call. All other code reads the facts about a kind from this enum.
 *
 * <p>Messages use the {@link #label} of a kind, which is the name of the method of {@code ProcessGroup}. {@link
 * #toString} also returns the label.
 */
public enum CollectiveKind {
    /** Combines the operands of all ranks, on every rank. */
    ALL_REDUCE("allReduce", Held.ALL, Held.ALL),
    /** Copies the root's data to every rank. */
    BROADCAST("broadcast", Held.ALL_ON_ROOT, Held.ALL_OFF_ROOT),
    /** Combines the operands of all ranks, on the root. */
    REDUCE("reduce", Held.ALL, Held.ALL_ON_ROOT),
    /** Joins the parts of all ranks, on every rank. */
    ALL_GATHER("allGather", Held.PART, Held.ALL),
    /** Combines the operands of all ranks. Each rank receives its part of the result. */
    REDUCE_SCATTER("reduceScatter", Held.ALL, Held.PART),
    /** Joins the parts of all ranks, on the root. */
    GATHER("gather", Held.PART, Held.ALL_ON_ROOT),
    /** Distributes the root's data. Each rank receives its part of the data. */
    SCATTER("scatter", Held.ALL_ON_ROOT, Held.PART),
    /** Distributes the data of every rank. Each rank receives one part from every rank. */
    ALL_TO_ALL("allToAll", Held.ALL, Held.ALL),
    /** Gives each rank the combined operands of rank 0 up to this rank, in rank order. */
    SCAN("scan", Held.ALL, Held.ALL),
    /** Gives each rank the combined operands of all lower ranks, in rank order. */
    EXCLUSIVE_SCAN("exclusiveScan", Held.ALL, Held.ALL),
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

    /** The share of an operation's data that a rank has. */
    public enum Held {
        /** No data, because the operation has no data. */
        NONE,
        /** All of the data. If the data has parts, the rank has the parts of all ranks. */
        ALL,
        /** The part that belongs to this rank. */
        PART,
        /** All of the data on the root, and no data on the other ranks. */
        ALL_ON_ROOT,
        /** No data on the root, and all of the data on the other ranks. */
        ALL_OFF_ROOT;

        /**
         * Returns whether a rank has all of the data.
         *
         * @param isRoot whether the rank is the root
         * @return false if the rank has a part or nothing
         */
        public boolean isAll(boolean isRoot) {
            return this == ALL || this == (isRoot ? ALL_ON_ROOT : ALL_OFF_ROOT);
        }

        /**
         * Returns whether a rank has any of the data.
         *
         * @param isRoot whether the rank is the root
         * @return false if the rank has nothing
         */
        public boolean has(boolean isRoot) {
            return this == PART || isAll(isRoot);
        }
    }

    /** {@return the name of the operation and of its method in {@code ProcessGroup}, for example {@code allReduce}} */
    public String label() {
        return label;
    }

    /**
     * Finds a kind by its label.
     *
     * @param label label of the kind, for example {@code allReduce}
     * @return kind
     * @throws IllegalArgumentException if no kind has this label; the message lists the labels
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

    /** {@return how much of the data a rank has as input} */
    public Held in() {
        return in;
    }

    /** {@return how much of the data a rank gets as output} */
    public Held out() {
        return out;
    }

    /** {@return whether calls of this kind have a root} */
    public boolean isRooted() {
        return in == Held.ALL_ON_ROOT || out == Held.ALL_ON_ROOT;
    }

    /** {@return whether the operands of the ranks are combined, so that calls have a {@link ReduceOp}} */
    public boolean combines() {
        return this == ALL_REDUCE || this == REDUCE || this == REDUCE_SCATTER || isScan();
    }

    /** {@return whether the kind is a scan or an exclusive scan} */
    public boolean isScan() {
        return this == SCAN || this == EXCLUSIVE_SCAN;
    }

    /** {@return whether the data has one part for each rank} The lengths of the parts may differ. */
    public boolean hasParts() {
        return in == Held.PART || out == Held.PART || this == ALL_TO_ALL;
    }

    @Override
    public String toString() {
        return label;
    }
}
