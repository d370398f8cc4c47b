package ferro.tck.cells;

import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.CollectiveKind;
import ferro.CollectiveKind.DataShare;
import ferro.ReduceOp;
import ferro.Tensor;
import ferro.group.ProcessGroup;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * A factory that makes the call of a collective kind, and determines the operands that are combined into the result.
 * {@link CollectiveKind} has all other properties of a kind that the rules need. The class also runs a call on a back
 * end.
 */
public final class CallFactory {
    private CallFactory() {}

    /**
     * Makes a call of any kind.
     *
     * @param in     operand; null on a rank that has no operand
     * @param out    result; null on a rank that has no result; ignored by a broadcast, which has one tensor
     * @param op     reduction; ignored by a kind that combines nothing
     * @param root   root; ignored by a kind without root
     * @param counts lengths of the parts; empty if all parts have the same length
     */
    public static Collective of(CollectiveKind kind, Tensor in, Tensor out, ReduceOp op, int root, long... counts) {
        return switch (kind) {
            case ALL_REDUCE -> Collective.allReduce(in, out, op);
            case BROADCAST -> Collective.broadcast(in, root);
            case REDUCE -> out == null ? Collective.reduce(in, op, root) : Collective.reduce(in, out, op, root);
            case ALL_GATHER -> Collective.allGather(in, out, counts);
            case REDUCE_SCATTER -> Collective.reduceScatter(in, out, op, counts);
            case GATHER -> out == null ? Collective.gather(in, root, counts) : Collective.gather(in, out, root, counts);
            case SCATTER ->
                in == null ? Collective.scatter(out, root, counts) : Collective.scatter(in, out, root, counts);
            case ALL_TO_ALL -> Collective.allToAll(in, out, counts, counts);
            case SCAN -> Collective.scan(in, out, op);
            case EXCLUSIVE_SCAN -> Collective.exclusiveScan(in, out, op);
            case BARRIER -> Collective.barrier();
        };
    }

    /** The ranks whose operands are combined, in rank order. */
    public record RankSpan(int from, int to) {
        /** Returns whether the span has no ranks. */
        public boolean isEmpty() {
            return from == to;
        }
    }

    /** Returns the ranks whose operands are combined into the result on {@code rank}. */
    public static RankSpan combined(CollectiveKind kind, int rank, int worldSize) {
        return switch (kind) {
            case SCAN -> new RankSpan(0, rank + 1);
            case EXCLUSIVE_SCAN -> new RankSpan(0, rank);
            default -> new RankSpan(0, worldSize);
        };
    }

    /** Returns the kinds of collectives that have a property, in the order of the enum. */
    public static List<CollectiveKind> kinds(Predicate<CollectiveKind> property) {
        return Stream.of(CollectiveKind.values()).filter(property).toList();
    }

    /** Returns whether operand and result of a kind are one tensor. */
    public static boolean isOneTensor(CollectiveKind kind) {
        return kind.out() == DataShare.ALL_OFF_ROOT;
    }

    /** Runs a call on the back end of a group, and waits for its end. */
    public static void run(ProcessGroup group, Collective call) {
        CollectiveBackend backend = (CollectiveBackend) group.backend();
        backend.run(call, backend.timeout());
    }

    /** Returns why a back end does not support a call; empty if the back end supports the call. */
    public static Optional<String> unsupported(ProcessGroup group, Collective call) {
        return ((CollectiveBackend) group.backend()).unsupportedBecause(call);
    }

    /**
     * Returns why a back end refuses a call; empty if the back end supports the call. Fails if the refusal is not
     * correct.
     */
    public static Optional<String> refusal(ProcessGroup group, Collective call) {
        Optional<String> why = unsupported(group, call);
        if (why.isPresent()) {
            if (why.get().isBlank()) {
                throw new IllegalStateException("unsupportedBecause gives no reason for " + call.kind());
            }
            try {
                CollectiveBackend backend = (CollectiveBackend) group.backend();
                backend.submit(call, backend.timeout());
            } catch (UnsupportedOperationException expected) {
                return why;
            }
            throw new IllegalStateException(
                    "unsupportedBecause says \"" + why.get() + "\", but submit accepts the call");
        }
        return why;
    }
}
