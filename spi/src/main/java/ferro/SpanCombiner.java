package ferro;

import java.lang.reflect.Array;
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
        Class<?> carrier = HostElements.carrier(Objects.requireNonNull(type, "type"));
        if (Objects.requireNonNull(array, "array").getComponentType() != carrier) {
            throw new IllegalArgumentException(
                    array.getSimpleName() + " cannot hold " + type.label() + ": use " + carrier + "[].class");
        }
        return new SpanCombiner<>(type, code);
    }

    @Override
    @SuppressWarnings("unchecked") // of has compared the class of the arrays with the type
    public void combine(HostTensor into, HostTensor received) {
        int block = (int) Math.min(into.elementCount(), BLOCK_BYTES / type.byteSize());
        Object left = Array.newInstance(HostElements.carrier(type), block);
        Object right = Array.newInstance(HostElements.carrier(type), block);
        for (long done = 0; done < into.elementCount(); done += block) {
            int length = (int) Math.min(block, into.elementCount() - done);
            into.read(done, left, 0, length);
            received.read(done, right, 0, length);
            code.combine((A) left, (A) right, length);
            into.write(done, left, 0, length);
        }
    }
}
