package ferro;

import java.util.Arrays;
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
    ALL_REDUCE("allReduce", DataShare.ALL, DataShare.ALL),
    /** Copies the root's data to every rank. */
    BROADCAST("broadcast", DataShare.ALL_ON_ROOT, DataShare.ALL_OFF_ROOT),
    /** Combines the operands of all ranks, on the root. */
    REDUCE("reduce", DataShare.ALL, DataShare.ALL_ON_ROOT),
    /** Joins the parts of all ranks, on every rank. */
    ALL_GATHER("allGather", DataShare.PART, DataShare.ALL),
    /** Combines the operands of all ranks. Each rank receives its part of the result. */
    REDUCE_SCATTER("reduceScatter", DataShare.ALL, DataShare.PART),
    /** Joins the parts of all ranks, on the root. */
    GATHER("gather", DataShare.PART, DataShare.ALL_ON_ROOT),
    /** Distributes the root's data. Each rank receives its part of the data. */
    SCATTER("scatter", DataShare.ALL_ON_ROOT, DataShare.PART),
    /** Distributes the data of every rank. Each rank receives one part from every rank. */
    ALL_TO_ALL("allToAll", DataShare.ALL, DataShare.ALL),
    /** Gives each rank the combined operands of rank 0 up to this rank, in rank order. */
    SCAN("scan", DataShare.ALL, DataShare.ALL),
    /** Gives each rank the combined operands of all lower ranks, in rank order. */
    EXCLUSIVE_SCAN("exclusiveScan", DataShare.ALL, DataShare.ALL),
    /** Waits for all ranks. */
    BARRIER("barrier", DataShare.NONE, DataShare.NONE);

    private final String label;
    private final DataShare in;
    private final DataShare out;

    CollectiveKind(String label, DataShare in, DataShare out) {
        this.label = label;
        this.in = in;
        this.out = out;
    }

    /** The share of an operation's data that a rank has. */
    public enum DataShare {
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
        throw new IllegalArgumentException("no collective \"" + label + "\": use one of " + Arrays.asList(values()));
    }

    /** {@return how much of the data a rank has as input} */
    public DataShare in() {
        return in;
    }

    /** {@return how much of the data a rank gets as output} */
    public DataShare out() {
        return out;
    }

    /** {@return whether calls of this kind have a root} */
    public boolean isRooted() {
        return in == DataShare.ALL_ON_ROOT || out == DataShare.ALL_ON_ROOT;
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
        return in == DataShare.PART || out == DataShare.PART || this == ALL_TO_ALL;
    }

    @Override
    public String toString() {
        return label;
    }
}
