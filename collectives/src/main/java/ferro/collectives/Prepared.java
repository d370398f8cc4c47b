package ferro.collectives;

import ferro.Collective;
import ferro.DataType;
import ferro.ReduceOp;
import ferro.Tensor;
import ferro.collectives.control.Hashing;
import ferro.collectives.plan.Plan;
import ferro.collectives.shared.Program;
import ferro.spi.CallHeader;

/**
 * All that calls of one kind, type, length, op and root have in common: plan, schedule, fingerprint and text; made once and
 * cached.
 */
final class Prepared {
    final String kind;
    final DataType type;
    final long elements;
    final ReduceOp op;
    final int root;
    /** Of operations over links, else null. */
    final Schedule schedule;
    /** Of operations over shared memory, else null. */
    final Program program;

    final int steps;
    /** Fingerprint and text. */
    final CallHeader.Call call;
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
        this.elements = key.elements;
        this.op = key.op;
        this.root = key.root;
        this.schedule = schedule;
        this.program = program;
        this.steps = program == null ? schedule.steps() : program.steps();
        int unit = key.type == null ? 0 : key.type.byteSize();
        this.bytes = key.elements * unit;
        this.bytesMoved = (program == null ? schedule.movedElements() : program.movedElements()) * unit;
        String text = describe(key, algorithm);
        this.call = new CallHeader.Call(group, Hashing.of(text), text);
    }

    String text() {
        return call.text();
    }

    /** Returns whether a call is of this kind; asked on every call, so nothing is made for it. */
    boolean fits(Collective other, int worldSize) {
        Tensor operand = other.operand();
        return kind.equals(other.kind())
                && (operand == null ? null : operand.dataType()) == type
                && Key.elements(other, worldSize) == elements
                && other.op() == op
                && Math.max(0, other.root()) == root;
    }

    /**
     * What is equal in calls that share a plan.
     *
     * @param kind     of the call
     * @param type     of its elements, null for a barrier
     * @param elements of all chunks together
     * @param op       how to combine, or null
     * @param root     root, or 0
     */
    record Key(String kind, DataType type, long elements, ReduceOp op, int root) {
        private static final int SHIFT = 7;

        static Key of(Collective call, int worldSize) {
            Tensor operand = call.operand();
            DataType type = operand == null ? null : operand.dataType();
            return new Key(call.kind(), type, elements(call, worldSize), call.op(), Math.max(0, call.root()));
        }

        /** Of the whole operation: the longer tensor, which off the root of a gather or scatter is not there. */
        static long elements(Collective call, int worldSize) {
            if (call instanceof Collective.Gather || call instanceof Collective.Scatter) {
                return worldSize * call.operand().elementCount();
            }
            if (call instanceof Collective.AllGather) {
                return call.out().elementCount();
            }
            return call.in() == null ? 0 : call.in().elementCount();
        }

        static int slot(Collective call, int worldSize, int slots) {
            Tensor operand = call.operand();
            ReduceOp op = call.op();
            int hash = call.kind().hashCode() + Long.hashCode(elements(call, worldSize));
            hash = SHIFT * hash + (operand == null ? 0 : operand.dataType().ordinal());
            hash = SHIFT * hash
                    + Math.max(0, call.root())
                    + (op == null ? 0 : op.name().hashCode());
            return (hash ^ (hash >>> SHIFT)) & (slots - 1);
        }
    }

    /** Says what a call is, for people; the fingerprint is the hash of exactly this text. */
    private static String describe(Key key, String algorithm) {
        StringBuilder text = new StringBuilder(key.kind);
        if (key.type != null) {
            text.append(' ')
                    .append(key.type.label())
                    .append('[')
                    .append(key.elements)
                    .append(']');
        }
        if (key.op != null) {
            text.append(' ').append(key.op.name());
        }
        if (isRooted(key.kind)) {
            text.append(" root ").append(key.root);
        }
        return text.append(" by ").append(algorithm).toString();
    }

    private static boolean isRooted(String kind) {
        return switch (kind) {
            case "broadcast", "reduce", "gather", "scatter" -> true;
            default -> false;
        };
    }
}
