package ferro;

import java.util.Objects;

/**
 * A user's code for arrays, as code for tensors. Engines that keep arrays of their own ask for the code itself, since this one makes
 * its arrays anew for each call.
 *
 * @param type of the elements
 * @param code for arrays that carry it
 */
record SpanCombiner<A>(DataType type, ReduceOp.SpanCombine<A> code) implements ReduceOp.Combiner {
    /** Both arrays stay in the first-level cache. */
    private static final int BLOCK_BYTES = 4096;

    static <A> SpanCombiner<A> of(DataType type, Class<A> array, ReduceOp.SpanCombine<A> code) {
        Objects.requireNonNull(code, "combine");
        Carrier carrier = Objects.requireNonNull(type, "type").carrier();
        if (Objects.requireNonNull(array, "array") != carrier.arrayClass()) {
            throw new IllegalArgumentException(
                    array.getSimpleName() + " cannot hold " + type.label() + ": use " + carrier.arrayName() + ".class");
        }
        return new SpanCombiner<>(type, code);
    }

    @Override
    @SuppressWarnings("unchecked") // of has compared the class of the arrays with the type
    public void combine(HostTensor into, HostTensor received) {
        int block = (int) Math.min(into.elementCount(), BLOCK_BYTES / type.byteSize());
        Carrier carrier = type.carrier();
        Object left = carrier.newArray(block);
        Object right = carrier.newArray(block);
        for (long done = 0; done < into.elementCount(); done += block) {
            int length = (int) Math.min(block, into.elementCount() - done);
            into.read(carrier, done, left, 0, length);
            received.read(carrier, done, right, 0, length);
            code.combine((A) left, (A) right, length);
            into.write(carrier, done, left, 0, length);
        }
    }
}
