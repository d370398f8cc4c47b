package ferro.collectives;

import ferro.Collective;
import ferro.CollectiveKind;
import ferro.DataType;
import ferro.ReduceOp;
import ferro.Tensor;
import ferro.collectives.control.Hashing;
import ferro.collectives.plan.Plan;
import ferro.collectives.reduce.WholeSums;
import ferro.collectives.shared.Program;
import ferro.spi.CallHeader;
import java.util.Arrays;
import java.util.Objects;

/**
 * All that calls of one kind, type, length, op and root have in common: plan, schedule, fingerprint and text; made once and
 * cached.
 */
final class Prepared {
    private static final int COUNTS_LENGTH_MOST = 100;

    final CollectiveKind kind;
    final DataType type;
    final long elements;
    final Parts parts;
    /** What travels: of most calls elements of their type, cut as they are. */
    final DataType carriedType;

    final Parts carriedParts;
    /** Lengths of the calls that are joined into this one, else null. */
    final long[] joined;

    final ReduceOp op;
    /** How two elements are combined on the way: a division, or what is done to operands, comes before or after. */
    final ReduceOp combining;

    final int root;
    /** Of operations over links, else null. */
    final Schedule schedule;
    /** Of operations over shared memory, else null. */
    final Program program;

    final int steps;
    /** Fingerprint and text. */
    final CallHeader.Call call;
    /** By peer, where the two ends of a message have something of their own to agree on; else null. */
    final CallHeader.Call[] sendCalls;

    final CallHeader.Call[] receiveCalls;
    /** Of the whole operation, and of what this rank sends and receives of it. */
    final long bytes;

    final long bytesMoved;

    Prepared(Key key, long group, Plan plan, Schedule schedule) {
        this(key, group, plan.algorithm(), schedule, null);
    }

    Prepared(Key key, long group, Program program) {
        this(key, group, program.algorithm(), null, program);
    }

    private Prepared(Key key, long group, String algorithm, Schedule schedule, Program program) {
        this.kind = key.kind;
        this.type = key.type;
        this.parts = key.parts;
        this.joined = key.joined;
        this.elements = parts.elements();
        Key carried = key.carried();
        this.carriedType = carried.type;
        this.carriedParts = carried.parts;
        this.op = key.op;
        this.combining = op == ReduceOp.AVG ? ReduceOp.SUM : op;
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

    private static int unit(DataType type) {
        return type == null ? 0 : type.byteSize();
    }

    /** Returns whether it is an average of integers, which goes by wider sums. */
    boolean isWidened() {
        return WholeSums.serve(type, op);
    }

    String text() {
        return call.text();
    }

    /** Returns whether a call is of this kind; asked on every call, so nothing is made for it. */
    boolean fits(Collective other, int worldSize) {
        Tensor operand = other.operand();
        return kind == other.kind()
                && (operand == null ? null : operand.dataType()) == type
                && parts.fit(other, worldSize)
                && Objects.equals(other.op(), op)
                && Math.max(0, other.root()) == root;
    }

    /**
     * What is equal in calls that share a plan.
     *
     * @param kind     of the call
     * @param type     of its elements, null for a barrier
     * @param parts    how long its chunks are
     * @param op       how to combine, or null
     * @param root     root, or 0
     * @param joined   lengths of the calls that are joined into this one; null if it is one
     */
    record Key(CollectiveKind kind, DataType type, Parts parts, ReduceOp op, int root, long[] joined) {
        private static final int SHIFT = 7;
        /** Spreads lengths that are powers of two as well (Knuth, The Art of Computer Programming 3, 6.4). */
        private static final int GOLDEN = 0x9E3779B9;

        private static final int GOLDEN_SHIFT = 16;

        static Key of(Collective call, int worldSize) {
            Tensor operand = call.operand();
            DataType type = operand == null ? null : operand.dataType();
            return new Key(call.kind(), type, Parts.of(call, worldSize), call.op(), Math.max(0, call.root()), null);
        }

        long elements() {
            return parts.elements();
        }

        /** Returns what is planned and travels in its place: this, or the wider sums of an average of integers. */
        Key carried() {
            if (!WholeSums.serve(type, op)) {
                return this;
            }
            Parts wider = parts.times(WholeSums.longsPerElement(type));
            return new Key(kind, DataType.INT64, wider, ReduceOp.SUM, root, joined);
        }

        static int slot(Collective call, int worldSize, int slots) {
            Tensor operand = call.operand();
            ReduceOp op = call.op();
            int hash = call.kind().ordinal() + Long.hashCode(Parts.elements(call, worldSize));
            hash = SHIFT * hash + (operand == null ? 0 : operand.dataType().ordinal());
            hash = SHIFT * hash
                    + Math.max(0, call.root())
                    + (op == null ? 0 : op.name().hashCode());
            hash = call.hasCounts() ? SHIFT * hash + Arrays.hashCode(call.inCounts()) : hash;
            return (hash * GOLDEN >>> GOLDEN_SHIFT) & (slots - 1);
        }
    }

    /** Says what a call is, for people; the fingerprint is the hash of exactly this text. */
    private static String describe(Key key, String algorithm) {
        StringBuilder text = new StringBuilder(key.kind.label());
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

    /** What all ranks know of the parts: of an all-to-all only that they have lengths of their own, told pair by pair. */
    private static void describe(Key key, StringBuilder text) {
        if (!key.parts.areEqual() && key.kind == CollectiveKind.ALL_TO_ALL) {
            text.append(" in parts of their own");
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

    /** Returns what both ends of each message agree on besides, by peer; null where all ranks know all lengths. */
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
