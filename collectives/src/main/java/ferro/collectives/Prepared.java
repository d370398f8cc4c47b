package ferro.collectives;

import ferro.DataType;
import ferro.ReduceOp;
import ferro.collectives.control.Hashing;
import ferro.collectives.plan.Plan;

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
    final Plan plan;
    final Schedule schedule;
    final long fingerprint;
    final String text;
    /** Of the whole operation, and of what this rank sends and receives of it. */
    final long bytes;

    final long bytesMoved;

    Prepared(Prepared.Key key, Plan plan, Schedule schedule) {
        this.kind = key.kind;
        this.type = key.type;
        this.elements = key.elements;
        this.op = key.op;
        this.root = key.root;
        this.plan = plan;
        this.schedule = schedule;
        int unit = key.type == null ? 0 : key.type.byteSize();
        this.bytes = key.elements * unit;
        this.bytesMoved = schedule.movedElements() * unit;
        this.text = describe(key, plan.algorithm());
        this.fingerprint = Hashing.of(text);
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

        boolean fits(Prepared there) {
            return there != null
                    && there.elements == elements
                    && there.type == type
                    && there.op == op
                    && there.root == root
                    && there.kind.equals(kind);
        }

        int slot(int slots) {
            int hash = kind.hashCode() + Long.hashCode(elements);
            hash = SHIFT * hash + (type == null ? 0 : type.ordinal());
            hash = SHIFT * hash + root + (op == null ? 0 : op.name().hashCode());
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
