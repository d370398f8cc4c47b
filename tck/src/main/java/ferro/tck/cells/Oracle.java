package ferro.tck.cells;

import ferro.CollectiveKind;
import ferro.ReduceOp;
import java.util.function.LongBinaryOperator;

/** The elements that ranks have before a call, and the results of reductions, which a plain loop computes. */
public interface Oracle {
    /** Returns {@code count} elements of a rank's operand from an index on. The index is 0 in a reduction. */
    long[] elements(CollectiveKind kind, int rank, int from, int count);

    /**
     * Returns {@code count} expected elements, from an index on, of a result that combines the operands of some ranks.
     * Without ranks, an op of ferro gives its identity, and a user-defined op leaves the operand of rank 0.
     */
    ExpectedElements reduced(CallFactory.RankSpan ranks, ReduceOp op, int from, int count);

    /** One element of a rank. */
    @FunctionalInterface
    interface ElementSource {
        /** Returns the bits of the element at an index of a rank's operand. */
        long of(int rank, int index);
    }

    /**
     * Returns the oracle of a user-defined reduction that combines elements of equal index by the operator
     * {@code combine}.
     */
    static Oracle of(ElementSource element, LongBinaryOperator combine) {
        return new Oracle() {
            @Override
            public long[] elements(CollectiveKind kind, int rank, int from, int count) {
                long[] elements = new long[count];
                for (int at = 0; at < count; at++) {
                    elements[at] = element.of(rank, from + at);
                }
                return elements;
            }

            @Override
            public ExpectedElements reduced(CallFactory.RankSpan ranks, ReduceOp op, int from, int count) {
                long[] result = elements(null, ranks.from(), from, count);
                for (int rank = ranks.from() + 1; rank < ranks.to(); rank++) {
                    for (int at = 0; at < count; at++) {
                        result[at] = combine.applyAsLong(result[at], element.of(rank, from + at));
                    }
                }
                return ExpectedElements.exactly(result);
            }
        };
    }
}
