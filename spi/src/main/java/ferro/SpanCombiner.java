package ferro;

import java.util.Objects;

/**
 * An adapter that applies a user's code for arrays to tensors. The adapter allocates new arrays for each call. An
 * engine that has its own arrays uses {@code code} directly.
 *
 * @param type element type
 * @param code code for arrays that carry the type
 */
record SpanCombiner<A>(DataType type, ReduceOp.SpanCombine<A> code) implements ReduceOp.Combiner {
    /** Size of each array in bytes, chosen so that both arrays fit into the first-level cache. */
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

    private record SwappedArrays<A>(ReduceOp.SpanCombine<A> code) implements ReduceOp.SpanCombine<A> {
        @Override
        @SuppressWarnings("SuspiciousSystemArraycopy") // A is an array
        public void combine(A into, A received, int count) {
            code.combine(received, into, count);
            System.arraycopy(received, 0, into, 0, count);
        }
    }

    /** Returns an adapter whose code gets its operands in the other order. */
    SpanCombiner<A> swapped() {
        return new SpanCombiner<>(type, new SwappedArrays<>(code));
    }

    @Override
    @SuppressWarnings("unchecked") // of() has checked that arrays of this class carry the type
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
