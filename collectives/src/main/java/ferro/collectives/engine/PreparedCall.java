package ferro.collectives.engine;

import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveKind;
import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Tensor;
import ferro.collectives.plan.Plan;
import ferro.collectives.reduce.IntegerSums;
import ferro.collectives.shared.SharedMemoryProgram;
import ferro.control.membership.Hashing;
import ferro.spi.CallHeader;
import java.util.Arrays;
import java.util.Objects;

/**
 * The plan, schedule, fingerprint and text that calls of one kind, type, length, op, root and label share. A prepared
 * call is made once and cached.
 */
final class PreparedCall {
    private static final int COUNTS_LENGTH_MOST = 100;
    private static final int LABELS_LENGTH_MOST = 200;

    private final Key key;
    private final String algorithm;
    final CollectiveKind kind;
    /** Name of the call in texts: the kind, and the label if the call has one. */
    final String name;

    final DataType type;
    final long elements;
    final ChunkLengths parts;
    /**
     * Type of the elements that are sent. Only an average of integers sends another type and other chunks than the call
     * has.
     */
    final DataType carriedType;

    final ChunkLengths carriedParts;
    /** Lengths of the calls that are joined into this call; null for a single call. */
    final long[] joined;

    private final String label;

    final ReduceOp op;
    /**
     * Op that combines two elements while operands are missing. If operands are multiplied, they are multiplied before.
     */
    final ReduceOp combining;
    /** Op that combines the last missing operand. For an average of floats, this op also divides. */
    final ReduceOp completing;

    final int root;
    /** Schedule of an operation over links; null in shared memory. */
    final Schedule schedule;
    /** Program of an operation in shared memory; null over links. */
    final SharedMemoryProgram program;

    final int steps;
    final CallHeader.Call call;
    /**
     * Calls by peer of an all-to-all with unequal parts, else null. The fingerprint of each call includes the message's
     * length.
     */
    final CallHeader.Call[] sendCalls;

    final CallHeader.Call[] receiveCalls;
    /** Bytes of the whole operation. {@code bytesMoved} is the number of bytes that this rank sends and receives. */
    final long bytes;

    final long bytesMoved;

    PreparedCall(Key key, long group, Plan plan, Schedule schedule) {
        this(key, group, plan.algorithm(), schedule, null);
    }

    PreparedCall(Key key, long group, SharedMemoryProgram program) {
        this(key, group, program.algorithm(), null, program);
    }

    private PreparedCall(Key key, long group, String algorithm, Schedule schedule, SharedMemoryProgram program) {
        this.key = key;
        this.algorithm = algorithm;
        this.label = key.labels[0];
        this.kind = key.kind;
        this.name = key.name();
        this.type = key.type;
        this.parts = key.parts;
        this.joined = key.joined;
        this.elements = parts.elements();
        Key carried = key.carried();
        this.carriedType = carried.type;
        this.carriedParts = carried.parts;
        this.op = key.op;
        this.combining = op == ReduceOp.AVG ? ReduceOp.SUM : op;
        this.completing = isWidened() ? combining : op;
        this.root = key.root;
        this.schedule = schedule;
        this.program = program;
        this.steps = program == null ? schedule.steps() : program.steps();
        this.bytes = elements * unit(type);
        this.bytesMoved = (program == null ? schedule.movedElements() : program.movedElements()) * unit(carriedType);
        String text = describe(key, algorithm);
        this.call = new CallHeader.Call(group, Hashing.of(text), text);
        this.sendCalls = pairs(parts.inCounts(), true);
        this.receiveCalls = pairs(parts.outCounts(), false);
    }

    /**
     * Returns a prepared call with the same plan for calls with a label, or for joined calls with these labels.
     * Fingerprint, name and text of the returned call are different.
     */
    PreparedCall labelled(String... labels) {
        return new PreparedCall(key.labelled(labels.clone()), call.group(), algorithm, schedule, program);
    }

    boolean hasLabels(String... labels) {
        return Arrays.equals(key.labels, labels);
    }

    private static int unit(DataType type) {
        return type == null ? 0 : type.byteSize();
    }

    /** Returns the factor by which each element of an operand is multiplied when it is first read; 1 for most calls. */
    double factor() {
        return op == null ? 1 : op.factor();
    }

    /** Returns the number of bytes that a rank contributes. The operand is null if the rank has no operand. */
    long contributedBytes(HostTensor operand, int rank) {
        return operand == null || kind == CollectiveKind.BROADCAST && rank != root ? 0 : operand.byteCount();
    }

    /** Returns whether the call is an average of integers, which is computed from sums of wider integers. */
    boolean isWidened() {
        return IntegerSums.serve(type, op);
    }

    String text() {
        return call.text();
    }

    /** Returns whether this prepared call serves a call. The check runs on every call, so it allocates nothing. */
    boolean fits(Collective other, String otherLabel, int worldSize) {
        Tensor operand = other.operand();
        return kind == other.kind()
                && (operand == null ? null : operand.dataType()) == type
                && parts.fit(other, worldSize)
                && Objects.equals(other.op(), op)
                && Math.max(0, other.root()) == root
                && label.equals(otherLabel);
    }

    /**
     * The properties that are equal in calls that share a plan.
     *
     * @param type   type of the elements; null for a barrier
     * @param op     op that combines elements; null for a call that combines nothing
     * @param root   root rank; 0 for a call without a root
     * @param joined lengths of the calls that are joined into this call; null for a single call
     * @param labels label of the call, empty without a label; for joined calls with different labels, the label of each
     *     call
     */
    record Key(
            CollectiveKind kind,
            DataType type,
            ChunkLengths parts,
            ReduceOp op,
            int root,
            long[] joined,
            String... labels) {
        private static final int SHIFT = 7;
        /**
         * Multiplier of a hash that also spreads lengths that are powers of two (Knuth, The Art of Computer Programming
         * 3, 6.4).
         */
        private static final int GOLDEN = 0x9E3779B9;

        private static final int GOLDEN_SHIFT = 16;

        static Key of(Collective call, int worldSize) {
            Tensor operand = call.operand();
            DataType type = operand == null ? null : operand.dataType();
            return new Key(
                    call.kind(), type, ChunkLengths.of(call, worldSize), call.op(), Math.max(0, call.root()), null, "");
        }

        private Key labelled(String... others) {
            return new Key(kind, type, parts, op, root, joined, others);
        }

        private String name() {
            return labels.length == 1
                    ? CallOptions.named(kind.label(), labels[0])
                    : kind.label() + " [" + list(labels) + ']';
        }

        /** Joins labels to a text of bounded length. */
        private static String list(String... labels) {
            StringBuilder text = new StringBuilder();
            int told = 0;
            while (told < labels.length && (told == 0 || text.length() + labels[told].length() < LABELS_LENGTH_MOST)) {
                text.append(told == 0 ? "\"" : ", \"").append(labels[told++]).append('"');
            }
            return told == labels.length
                    ? text.toString()
                    : text + " and " + (labels.length - told) + " more, hash "
                            + Long.toHexString(Hashing.of(String.join("\n", labels)));
        }

        long elements() {
            return parts.elements();
        }

        /**
         * Returns the key of the call that is planned and sent. For an average of integers, this is the key of the sums
         * of wider integers, else this key.
         */
        Key carried() {
            if (!IntegerSums.serve(type, op)) {
                return this;
            }
            ChunkLengths wider = parts.times(IntegerSums.longsPerElement(type));
            return new Key(kind, DataType.INT64, wider, ReduceOp.SUM, root, joined, labels);
        }

        /** Returns the slot of a call in a cache of {@code slots} slots. */
        static int slot(Collective call, String label, int worldSize, int slots) {
            Tensor operand = call.operand();
            ReduceOp op = call.op();
            int hash = call.kind().ordinal() + Long.hashCode(ChunkLengths.elements(call, worldSize));
            hash = SHIFT * hash + (operand == null ? 0 : operand.dataType().ordinal());
            hash = SHIFT * hash
                    + Math.max(0, call.root())
                    + (op == null ? 0 : op.name().hashCode());
            hash = ChunkLengths.needsCounts(call) ? SHIFT * hash + Arrays.hashCode(call.inCounts()) : hash;
            hash = label.isEmpty() ? hash : SHIFT * hash + label.hashCode();
            return (hash * GOLDEN >>> GOLDEN_SHIFT) & (slots - 1);
        }
    }

    /** Returns the description of a call for texts. The fingerprint of the call is the hash of exactly this text. */
    private static String describe(Key key, String algorithm) {
        StringBuilder text = new StringBuilder(key.name());
        if (key.type != null) {
            text.append(' ').append(key.type.label());
            describe(key, text);
        }
        if (key.op != null) {
            text.append(' ').append(key.op.name());
        }
        if (key.kind.isRooted()) {
            text.append(" root ").append(key.root);
        }
        return text.append(" by ").append(algorithm).toString();
    }

    /**
     * Appends the properties of the parts that are equal on all ranks. For an all-to-all with unequal parts, the only
     * such property is that the lengths differ, because each pair of ranks compares its own lengths.
     */
    private static void describe(Key key, StringBuilder text) {
        if (!key.parts.areEqual() && key.kind == CollectiveKind.ALL_TO_ALL) {
            text.append(" in parts of different lengths");
            return;
        }
        text.append('[').append(key.elements()).append(']');
        if (!key.parts.areEqual()) {
            text.append(" in parts of ").append(list(key.parts.inCounts()));
        }
        if (key.joined != null) {
            text.append(" coalesced of ").append(list(key.joined));
        }
    }

    private static String list(long[] counts) {
        String list = Arrays.toString(counts).replace(" ", "");
        return list.length() > COUNTS_LENGTH_MOST ? "hash " + Long.toHexString(Hashing.of(list)) : list;
    }

    /** Returns the calls by peer if pairs of ranks also compare the lengths of their messages, else null. */
    private CallHeader.Call[] pairs(long[] counts, boolean sends) {
        if (parts.areEqual() || kind != CollectiveKind.ALL_TO_ALL) {
            return null;
        }
        CallHeader.Call[] pairs = new CallHeader.Call[counts.length];
        for (int peer = 0; peer < counts.length; peer++) {
            long both = Hashing.mix(call.fingerprint(), counts[peer]);
            String text = call.text() + ", " + counts[peer] + " elements " + (sends ? "to" : "from") + " rank " + peer;
            pairs[peer] = new CallHeader.Call(call.group(), both, text);
        }
        return pairs;
    }
}
