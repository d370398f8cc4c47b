package ferro;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * The reduction that combines the elements of all ranks that have the same index. Only the {@link #name()} of an op is
 * sent to other ranks, as part of the fingerprint of a call. The code is never sent.
 *
 * <p>A user-defined reduction is code that combines two elements. One factory exists for each element type: {@link
 * #ofFloats}, {@link #ofDoubles}, {@link #ofInts} or {@link #ofLongs}.
 *
 * {@snippet file="ferro/examples/snippets/TypeSnippetsTest.java" region="reduction" :
 *
 * static final ReduceOp LOG_SUM =
 *         ReduceOp.ofDoubles("log sum", (a, b) -> Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b))));
 * }
 *
 * <p>If code for two elements is too slow, use code for arrays of elements ({@link SpanCombine}). Code that works for
 * any element type gets tensors ({@link Combiner}). Code for records of bytes gets buffers ({@link #ofBytes}).
 *
 * <p>User-defined code must have the following properties, which ferro cannot check:
 * <ul>
 * <li>The code is associative: the algorithm decides in which order partial results are combined. A sum of floats,
 *     for example, is associative only up to rounding. Even if an op is associative only up to rounding, all ranks
 *     and all runs get the same bits. The rounding may differ for other lengths, world sizes and algorithms.
 * <li>The code is commutative to the last bit, unless the op is {@linkplain #ordered ordered}, since two ranks may each pass their own element as {@code into}. For
 * example, {@code a * b * 0.1f} is commutative, and {@code 0.1f * a * b} is not. A maximum by magnitude must define
 * which of 2 and -2 it returns. A result that is NaN must be the canonical NaN, as in the built-in ops.
 * <li>The code is pure: it keeps neither state nor arguments. The code runs on the thread that makes progress for the
 * group. One group runs the code on one thread at a time. If several ranks or groups of one JVM share the op, the code
 * runs on several threads at once.
 * <li>The code makes no call of any group. A call of the same group throws IllegalStateException. A call of another
 * group may deadlock, if a rank of that group waits for this rank.
 * <li>The code is the same on all ranks, with the same name. If two ranks have different code under one name, the
 * results are meaningless.
 * </ul>
 * An exception from user-defined code fails the group on all ranks, with code ABORTED, this rank as culprit, and a
 * message that names the op. A call on device tensors throws UnsupportedOperationException if its op is user-defined.
 *
 * <p>Two ops are equal if they have the same name and the same {@link #combiner}. Two pre-multiplied sums with the same
 * factor are therefore equal. Calls with equal ops share their plan and kernels, so create a user-defined op once and
 * reuse it.
 */
public final class ReduceOp {
    /** Addition; integers wrap on overflow. */
    public static final ReduceOp SUM = new ReduceOp("sum", null, 1);
    /** Multiplication; integers wrap on overflow. */
    public static final ReduceOp PRODUCT = new ReduceOp("product", null, 1);
    /** Minimum; NaN if an operand is NaN. */
    public static final ReduceOp MIN = new ReduceOp("min", null, 1);
    /** Maximum; NaN if an operand is NaN. */
    public static final ReduceOp MAX = new ReduceOp("max", null, 1);
    /**
     * Average: SUM, then one division by the world size. The last addition to an element also divides the element. For
     * f32 and f64, the sum and the quotient are rounded. For f16 and bf16, the last addition and the division are
     * computed in f32, and the result is rounded once.
     *
     * <p>For integers the sum is exact and the quotient is rounded toward zero. The sum is computed in wider integers
     * and cannot overflow. For the exact sum, an element of 8 to 32 bits is sent as 8 bytes, and an element of 64 bits
     * as 16 bytes. An AVG therefore sends 8 times the bytes of a SUM for i8 and u8, 4 times for i16 and u16, and twice
     * for the other integers. While the call runs, each rank has a copy of its operand in this size. With NCCL, AVG of
     * integers throws UnsupportedOperationException, since NCCL's sum would wrap.
     */
    public static final ReduceOp AVG = new ReduceOp("avg", null, 1);
    /** Bitwise AND, for integers only. */
    public static final ReduceOp BAND = new ReduceOp("band", null, 1);
    /** Bitwise OR, for integers only. */
    public static final ReduceOp BOR = new ReduceOp("bor", null, 1);
    /** Bitwise exclusive OR, for integers only. */
    public static final ReduceOp BXOR = new ReduceOp("bxor", null, 1);

    private static final List<ReduceOp> BUILT_IN = List.of(SUM, PRODUCT, MIN, MAX, AVG, BAND, BOR, BXOR);

    private final String name;
    private final Combiner combiner;
    private final double factor;
    /** The op with the operands in the other order; null if the op commutes. */
    private final ReduceOp swapped;

    private ReduceOp(String name, Combiner combiner, double factor) {
        this(name, combiner, factor, null);
    }

    private ReduceOp(String name, Combiner combiner, double factor, ReduceOp swapped) {
        this.name = name;
        this.combiner = combiner;
        this.factor = factor;
        this.swapped = swapped;
    }

    /**
     * Code that combines the elements of two tensors of any element type, through the accessors of {@link HostTensor}.
     */
    @FunctionalInterface
    public interface Combiner {
        /**
         * Writes {@code into[i] op received[i]} into {@code into[i]}, for all elements. Both tensors have the same
         * length. Each tensor is in an array or in direct memory, and the two may be in different kinds of memory.
         *
         * @param into     operand and result, valid during the call
         * @param received other operand, valid during the call; must not be changed
         */
        void combine(HostTensor into, HostTensor received);
    }

    /**
     * Code that combines the elements of two arrays. The JIT compiler can vectorise its loop, and the code can use the
     * Vector API.
     *
     * @param <A> array that carries the element type, such as {@code float[]}
     */
    @FunctionalInterface
    public interface SpanCombine<A> {
        /**
         * Writes {@code into[i] op received[i]} into {@code into[i]} for {@code 0 <= i < count}.
         *
         * <p>The arrays are copies, at most a few KiB long. ferro owns and reuses the arrays. The elements from {@code
         * count} on contain old data, and ferro ignores data that is written to these elements.
         *
         * @param into     operand and result
         * @param received other operand; may be overwritten
         * @param count    elements, at least 1
         */
        void combine(A into, A received, int count);
    }

    /** Code that combines two elements of f32. */
    @FunctionalInterface
    public interface FloatCombine extends SpanCombine<float[]> {
        /**
         * Returns {@code into op received}.
         *
         * @param into     one operand
         * @param received the other operand
         * @return result
         */
        float combine(float into, float received);

        @Override
        default void combine(float[] into, float[] received, int count) {
            for (int i = 0; i < count; i++) {
                into[i] = combine(into[i], received[i]);
            }
        }
    }

    /** Code that combines two elements of f64. */
    @FunctionalInterface
    public interface DoubleCombine extends SpanCombine<double[]> {
        /**
         * Returns {@code into op received}.
         *
         * @param into     one operand
         * @param received the other operand
         * @return result
         */
        double combine(double into, double received);

        @Override
        default void combine(double[] into, double[] received, int count) {
            for (int i = 0; i < count; i++) {
                into[i] = combine(into[i], received[i]);
            }
        }
    }

    /** Code that combines two elements of i32. */
    @FunctionalInterface
    public interface IntCombine extends SpanCombine<int[]> {
        /**
         * Returns {@code into op received}.
         *
         * @param into     one operand
         * @param received the other operand
         * @return result
         */
        int combine(int into, int received);

        @Override
        default void combine(int[] into, int[] received, int count) {
            for (int i = 0; i < count; i++) {
                into[i] = combine(into[i], received[i]);
            }
        }
    }

    /** Code that combines two elements of i64. */
    @FunctionalInterface
    public interface LongCombine extends SpanCombine<long[]> {
        /**
         * Returns {@code into op received}.
         *
         * @param into     one operand
         * @param received the other operand
         * @return result
         */
        long combine(long into, long received);

        @Override
        default void combine(long[] into, long[] received, int count) {
            for (int i = 0; i < count; i++) {
                into[i] = combine(into[i], received[i]);
            }
        }
    }

    /**
     * Creates an op from code for any element type.
     *
     * @param name     name of the op, the same on every rank; the fingerprint of a call contains it
     * @param combiner code; see the class for its required properties
     * @return op for every element type
     */
    public static ReduceOp of(String name, Combiner combiner) {
        return new ReduceOp(named(name), Objects.requireNonNull(combiner, "combiner"), 1);
    }

    /**
     * Creates an op for f32, for example {@code ReduceOp.ofFloats("hypot", (a, b) -> (float) Math.hypot(a, b))}.
     *
     * @param name    name of the op, the same on every rank; the fingerprint of a call contains it
     * @param combine code; see the class for its required properties
     * @return op; a call with tensors of another type throws IllegalArgumentException before any data moves
     */
    public static ReduceOp ofFloats(String name, FloatCombine combine) {
        return of(name, DataType.FLOAT32, float[].class, combine);
    }

    /**
     * Creates an op for f64.
     *
     * @param name    name of the op, as in {@link #ofFloats(String, FloatCombine)}
     * @param combine code, as in {@link #ofFloats(String, FloatCombine)}
     * @return op; a call with tensors of another type throws IllegalArgumentException before any data moves
     */
    public static ReduceOp ofDoubles(String name, DoubleCombine combine) {
        return of(name, DataType.FLOAT64, double[].class, combine);
    }

    /**
     * Creates an op for i32. The op does not accept u32, since most code would treat its elements as signed.
     *
     * @param name    name of the op, as in {@link #ofFloats(String, FloatCombine)}
     * @param combine code, as in {@link #ofFloats(String, FloatCombine)}
     * @return op; a call with tensors of another type throws IllegalArgumentException before any data moves
     */
    public static ReduceOp ofInts(String name, IntCombine combine) {
        return of(name, DataType.INT32, int[].class, combine);
    }

    /**
     * Creates an op for i64. The op does not accept u64, since most code would treat its elements as signed.
     *
     * @param name    name of the op, as in {@link #ofFloats(String, FloatCombine)}
     * @param combine code, as in {@link #ofFloats(String, FloatCombine)}
     * @return op; a call with tensors of another type throws IllegalArgumentException before any data moves
     */
    public static ReduceOp ofLongs(String name, LongCombine combine) {
        return of(name, DataType.INT64, long[].class, combine);
    }

    /**
     * Creates an op from code for arrays of elements of any type. Elements of u32 are passed as {@code int[]}, bits of
     * f16 or bf16 as {@code short[]}.
     *
     * {@snippet file="ferro/examples/snippets/TypeSnippetsTest.java" region="reductionOfArrays" :
     *
     * ReduceOp hypot = ReduceOp.of("hypot", DataType.FLOAT32, float[].class, (into, received, count) -> {
     *     for (int i = 0; i < count; i++) {
     *         into[i] = (float) Math.sqrt(into[i] * into[i] + received[i] * received[i]);
     *     }
     * });
     * }
     *
     * @param name    name of the op, the same on every rank; the fingerprint of a call contains it
     * @param type    element type
     * @param array   class of the array that carries the type
     * @param combine code; see the class for its required properties
     * @param <A>     array
     * @return op; a call with tensors of another type throws IllegalArgumentException before any data moves
     * @throws IllegalArgumentException if an array of this class does not carry the type
     */
    public static <A> ReduceOp of(String name, DataType type, Class<A> array, SpanCombine<A> combine) {
        return new ReduceOp(named(name), SpanCombiner.of(type, array, combine), 1);
    }

    /**
     * Creates an op for records of bytes, in tensors of i8 or u8. A record is combined as a whole: no algorithm, chunk or
     * segment of a transfer splits it.
     *
     * {@snippet file="ferro/examples/snippets/TypeSnippetsTest.java" region="reductionOfRecords" :
     *
     * // a record is the sum of some numbers (f64), and how many there are (i64)
     * ReduceOp means = ReduceOp.ofBytes("means", 16, (into, received) -> {
     *     for (int at = 0; at < into.limit(); at += 16) {
     *         into.putDouble(at, into.getDouble(at) + received.getDouble(at));
     *         into.putLong(at + 8, into.getLong(at + 8) + received.getLong(at + 8));
     *     }
     * });
     * }
     *
     * <p>The operand of each call must be a multiple of the record. In a reduce-scatter each part must be a multiple, too.
     * The order of operands is not the order of ranks, unless the op is {@linkplain #ordered ordered}. {@link #name} contains the size, so ranks with different sizes fail with MISMATCH.
     *
     * @param name        name of the op, the same on every rank; the fingerprint of a call contains it
     * @param recordBytes size of a record, 1 to 65536 bytes
     * @param combine     code; see the class for its required properties
     * @return op; a call with tensors of another type or of another length throws IllegalArgumentException before any data
     *     moves
     * @throws IllegalArgumentException if a record has no byte or more than 65536
     */
    public static ReduceOp ofBytes(String name, int recordBytes, RecordCombine combine) {
        RecordCombiner combiner = RecordCombiner.of(name, recordBytes, combine);
        return new ReduceOp(named(name) + " of " + recordBytes + " bytes", combiner, 1);
    }

    /**
     * Returns a user-defined op that need not commute, such as a product of matrices or a join of strings. A reduce, an
     * all-reduce, a reduce-scatter and a scan combine the operands in the order of the ranks, 0 to n-1. The algorithm decides
     * the brackets, so the code must be associative. The operand of the lower ranks is {@code into}.
     *
     * @param op user-defined op
     * @return op whose name differs from the name of {@code op}, so ranks that use both fail with MISMATCH
     * @throws IllegalArgumentException if {@code op} is a built-in op, which commutes
     */
    public static ReduceOp ordered(ReduceOp op) {
        if (Objects.requireNonNull(op, "op").combiner == null) {
            throw new IllegalArgumentException("reduction " + op.name + " commutes: use it without ordered");
        }
        if (op.isOrdered()) {
            return op;
        }
        String name = "ordered " + op.name;
        return new ReduceOp(name, op.combiner, 1, new ReduceOp(name, swapped(op.combiner), 1));
    }

    private static Combiner swapped(Combiner code) {
        if (code instanceof SpanCombiner<?> spans) {
            return spans.swapped();
        }
        return code instanceof RecordCombiner records ? records.swapped() : new SwappedTensors(code);
    }

    /** Code that combines into a copy of {@code received}, which the user's code must not change. */
    private record SwappedTensors(Combiner code) implements Combiner {
        @Override
        public void combine(HostTensor into, HostTensor received) {
            HostTensor result = HostTensor.allocate(into.dataType(), into.elementCount());
            result.copyFrom(0, received, 0, into.elementCount());
            code.combine(result, into);
            into.copyFrom(0, result, 0, into.elementCount());
        }
    }

    private static String named(String name) {
        return "user:" + Objects.requireNonNull(name, "name");
    }

    /**
     * Creates a SUM that multiplies each input by a factor before it is added. The input tensors are not changed. Each
     * product is rounded once to its type. f16 and bf16 are multiplied in f32. Integers wrap on overflow.
     *
     * @param factor factor by which each rank multiplies its own input; the same on every rank, and an integer for
     *     integer types
     * @return op
     */
    public static ReduceOp preMultipliedSum(double factor) {
        return new ReduceOp("premulsum:" + factor, null, factor);
    }

    /**
     * Finds a built-in op by its name. The names {@code mean} and {@code average} also return AVG.
     *
     * @param name for example {@code sum}
     * @return op
     * @throws IllegalArgumentException if there is no such op; the message lists the names
     */
    public static ReduceOp parse(String name) {
        Objects.requireNonNull(name, "name");
        String plain = name.equals("mean") || name.equals("average") ? "avg" : name;
        for (ReduceOp op : BUILT_IN) {
            if (op.name.equals(plain)) {
                return op;
            }
        }
        throw new IllegalArgumentException("no reduction \"" + name + "\": use one of " + BUILT_IN);
    }

    /** {@return the name of the op, which the ranks of a call compare} */
    public String name() {
        return name;
    }

    /** {@return the user's code as a {@link Combiner} for tensors in any memory; null for a built-in op} */
    public Combiner combiner() {
        return combiner;
    }

    /** {@return the user's code for arrays of the element type; null for a built-in op and for a {@link Combiner}} */
    public SpanCombine<?> span() {
        return combiner instanceof SpanCombiner<?> spans ? spans.code() : null;
    }

    /** {@return the user's code for records of bytes; null for every other op} */
    public RecordCombine recordCombine() {
        return combiner instanceof RecordCombiner records ? records.code() : null;
    }

    /**
     * {@return how many elements must be combined together: the bytes of a record of {@link #ofBytes}, 1 for every
     * other op. A back end may split an operand only at multiples of this number}
     */
    public int recordElements() {
        return combiner instanceof RecordCombiner records ? records.recordBytes() : 1;
    }

    /**
     * Returns why the user's code does not support an element type.
     *
     * @param type element type
     * @return reason; empty if the code supports the type. The result is also empty for a built-in op, since back ends
     *     differ in the types that they support for it
     */
    public Optional<String> unsupportedBecause(DataType type) {
        Objects.requireNonNull(type, "type");
        if (combiner instanceof RecordCombiner && type != DataType.INT8 && type != DataType.UINT8) {
            return Optional.of("reduction " + name + " accepts only i8 and u8, found elements of " + type.label()
                    + ": view the memory of the tensor as bytes");
        }
        if (!(combiner instanceof SpanCombiner<?> spans) || spans.type() == type) {
            return Optional.empty();
        }
        String need = spans.type().label();
        return Optional.of("reduction " + name + " accepts only " + need + ", found elements of " + type.label()
                + ": use a tensor of " + need + ", or a reduction for " + type.label());
    }

    /** {@return whether a back end must combine the operands in the order of the ranks, see {@link #ordered}} */
    public boolean isOrdered() {
        return swapped != null;
    }

    /**
     * Returns the op that passes its operands to the code in the other order, and writes the result into {@code into} too.
     *
     * @return this op if it is not {@link #ordered}
     */
    public ReduceOp swapped() {
        return isOrdered() ? swapped : this;
    }

    /** {@return the factor by which each rank multiplies its input; 1 except for {@link #preMultipliedSum}} */
    public double factor() {
        return factor;
    }

    @Override
    public boolean equals(Object other) {
        return this == other
                || other instanceof ReduceOp op && Objects.equals(combiner, op.combiner) && name.equals(op.name);
    }

    @Override
    public int hashCode() {
        return name.hashCode();
    }

    @Override
    public String toString() {
        return name;
    }

    /**
     * An adapter that applies a user's code for arrays to tensors. The adapter allocates new arrays for each call. An
     * engine that has its own arrays uses {@code code} directly.
     *
     * @param type element type
     * @param code code for arrays that carry the type
     */
    private record SpanCombiner<A>(DataType type, SpanCombine<A> code) implements Combiner {
        /** Size of each array in bytes, chosen so that both arrays fit into the first-level cache. */
        private static final int BLOCK_BYTES = 4096;

        static <A> SpanCombiner<A> of(DataType type, Class<A> array, SpanCombine<A> code) {
            Objects.requireNonNull(code, "combine");
            Carrier carrier = Objects.requireNonNull(type, "type").carrier();
            if (Objects.requireNonNull(array, "array") != carrier.arrayClass()) {
                throw new IllegalArgumentException(array.getSimpleName() + " cannot hold " + type.label() + ": use "
                        + carrier.arrayName() + ".class");
            }
            return new SpanCombiner<>(type, code);
        }

        private record SwappedArrays<A>(SpanCombine<A> code) implements SpanCombine<A> {
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
}
