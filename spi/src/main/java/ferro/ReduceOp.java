package ferro;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * How elements of one index are combined; only {@link #name()} travels (in the fingerprint), never code.
 *
 * <p>A reduction of your own is code for two elements. Write out the types of its parameters: they choose the element type.
 *
 * <pre>{@code
 * static final ReduceOp LOG_SUM = ReduceOp.of("log sum", (double a, double b) ->
 *         Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b))));
 * ...
 * group.allReduce(logs, LOG_SUM);
 * }</pre>
 *
 * <p>Where that is too slow there is a form for runs of elements ({@link SpanCombine}), and for code that takes any type, one that is
 * given tensors ({@link Combiner}). ferro cannot check what all of them must be:
 * <ul>
 * <li>associative, since plans choose which partial results meet. Where it is so up to rounding, as a sum of floats is, all ranks
 *     still get the same bits, and get them again from run to run; other lengths, world sizes and algorithms may round otherwise;
 * <li>commutative to the last bit, since two ranks may each take their own element as {@code into}: {@code a * b * 0.1f} is,
 *     {@code 0.1f * a * b} is not. A larger one by magnitude must say which of 2 and -2 it is; NaNs must come out canonical, as those
 *     of the built-in ops do;
 * <li>pure: it keeps neither state nor arguments. It runs on whichever thread drives the group, for one group one call at a time,
 *     and on several threads at once where ranks or groups of one JVM share the op;
 * <li>free of calls of any group: this group refuses them with IllegalStateException, another one may wait for ever for a rank that
 *     waits for this one;
 * <li>the same on all ranks, as is its name: two ranks with other code under one name get numbers without a meaning.
 * </ul>
 * What it throws fails the group on all ranks, with code ABORTED, this rank as culprit, and a text that names the op. Device tensors
 * refuse it with UnsupportedOperationException.
 *
 * <p>Two ops are equal if they have one name and one {@link #combiner}: multiplied sums of one factor are, however often made. Calls
 * with equal ops share their plan and kernels, so make an op of your own once and keep it.
 */
public final class ReduceOp {
    /** Addition; integers wrap. */
    public static final ReduceOp SUM = new ReduceOp("sum", null, 1);
    /** Multiplication; integers wrap. */
    public static final ReduceOp PRODUCT = new ReduceOp("product", null, 1);
    /** Smaller one; NaN wins. */
    public static final ReduceOp MIN = new ReduceOp("min", null, 1);
    /** Larger one; NaN wins. */
    public static final ReduceOp MAX = new ReduceOp("max", null, 1);
    /**
     * SUM, then one division by the world size.
     *
     * <p>Of integers it is exact, toward zero: their sum is made in wider numbers and cannot wrap. For that an element of 8 to 32
     * bits travels as 8 bytes and one of 64 bits as 16, which is 8 times the bytes of a sum for i8 and u8, 4 times for i16 and u16,
     * twice for the others, and each rank makes a copy of its operand of that size while the call runs. NCCL, which would let the sum
     * wrap, refuses it with UnsupportedOperationException.
     */
    public static final ReduceOp AVG = new ReduceOp("avg", null, 1);
    /** Bitwise and, integers only. */
    public static final ReduceOp BAND = new ReduceOp("band", null, 1);
    /** Bitwise or, integers only. */
    public static final ReduceOp BOR = new ReduceOp("bor", null, 1);
    /** Bitwise exclusive or, integers only. */
    public static final ReduceOp BXOR = new ReduceOp("bxor", null, 1);

    private static final List<ReduceOp> BUILT_IN = List.of(SUM, PRODUCT, MIN, MAX, AVG, BAND, BOR, BXOR);

    private final String name;
    private final Combiner combiner;
    private final double factor;

    private ReduceOp(String name, Combiner combiner, double factor) {
        this.name = name;
        this.combiner = combiner;
        this.factor = factor;
    }

    /** Combines two runs of elements of any type, through the accessors of {@link HostTensor}. */
    @FunctionalInterface
    public interface Combiner {
        /**
         * Writes {@code into[i] op received[i]} into {@code into[i]}, for all elements: as many in both, in arrays or in direct
         * memory, not always the same in both.
         *
         * @param into     operand and result, valid during the call
         * @param received other operand, valid during the call, left as it is
         */
        void combine(HostTensor into, HostTensor received);
    }

    /**
     * Combines two runs of elements in arrays: for loops that the JIT compiler vectorises, or the Vector API.
     *
     * @param <A> array that carries the element type, such as {@code float[]}
     */
    @FunctionalInterface
    public interface SpanCombine<A> {
        /**
         * Writes {@code into[i] op received[i]} into {@code into[i]} for {@code 0 <= i < count}.
         *
         * <p>The arrays are copies, at most a few KiB long, which belong to ferro and are used again: what stands in them from
         * {@code count} on is left over, and what is written there is not seen.
         *
         * @param into     operand and result
         * @param received other operand; may be overwritten
         * @param count    elements, at least 1
         */
        void combine(A into, A received, int count);
    }

    /** Combines two elements of f32. */
    @FunctionalInterface
    public interface FloatCombine extends SpanCombine<float[]> {
        /**
         * Returns {@code into op received}.
         *
         * @param into     one operand
         * @param received the other
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

    /** Combines two elements of f64. */
    @FunctionalInterface
    public interface DoubleCombine extends SpanCombine<double[]> {
        /**
         * Returns {@code into op received}.
         *
         * @param into     one operand
         * @param received the other
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

    /** Combines two elements of i32. */
    @FunctionalInterface
    public interface IntCombine extends SpanCombine<int[]> {
        /**
         * Returns {@code into op received}.
         *
         * @param into     one operand
         * @param received the other
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

    /** Combines two elements of i64. */
    @FunctionalInterface
    public interface LongCombine extends SpanCombine<long[]> {
        /**
         * Returns {@code into op received}.
         *
         * @param into     one operand
         * @param received the other
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
     * Makes an op from code for any element type.
     *
     * @param name     equal on every rank; what the fingerprint compares
     * @param combiner see the class for what it must be
     * @return op for every type
     */
    @SuppressWarnings("overloads") // the types of a lambda's parameters tell them apart
    public static ReduceOp of(String name, Combiner combiner) {
        return new ReduceOp(named(name), Objects.requireNonNull(combiner, "combiner"), 1);
    }

    /**
     * Makes an op for f32: {@code ReduceOp.of("hypot", (float a, float b) -> (float) Math.hypot(a, b))}.
     *
     * @param name    equal on every rank; what the fingerprint compares
     * @param combine a lambda needs the types of its parameters, which tell this form from the others; see the class for what it
     *                must be
     * @return op that refuses tensors of another type with IllegalArgumentException, before anything moves
     */
    @SuppressWarnings("overloads") // the types of a lambda's parameters tell them apart
    public static ReduceOp of(String name, FloatCombine combine) {
        return of(name, DataType.FLOAT32, float[].class, combine);
    }

    /**
     * Makes an op for f64.
     *
     * @param name    as {@link #of(String, FloatCombine)}
     * @param combine as {@link #of(String, FloatCombine)}
     * @return op that refuses tensors of another type with IllegalArgumentException, before anything moves
     */
    @SuppressWarnings("overloads") // the types of a lambda's parameters tell them apart
    public static ReduceOp of(String name, DoubleCombine combine) {
        return of(name, DataType.FLOAT64, double[].class, combine);
    }

    /**
     * Makes an op for i32; unsigned elements are refused, as most code would take them for signed ones.
     *
     * @param name    as {@link #of(String, FloatCombine)}
     * @param combine as {@link #of(String, FloatCombine)}
     * @return op that refuses tensors of another type with IllegalArgumentException, before anything moves
     */
    @SuppressWarnings("overloads") // the types of a lambda's parameters tell them apart
    public static ReduceOp of(String name, IntCombine combine) {
        return of(name, DataType.INT32, int[].class, combine);
    }

    /**
     * Makes an op for i64; unsigned elements are refused, as most code would take them for signed ones.
     *
     * @param name    as {@link #of(String, FloatCombine)}
     * @param combine as {@link #of(String, FloatCombine)}
     * @return op that refuses tensors of another type with IllegalArgumentException, before anything moves
     */
    @SuppressWarnings("overloads") // the types of a lambda's parameters tell them apart
    public static ReduceOp of(String name, LongCombine combine) {
        return of(name, DataType.INT64, long[].class, combine);
    }

    /**
     * Makes an op from code for runs of elements; of any type, u32 as {@code int[]} and bits of f16 or bf16 as {@code short[]}.
     *
     * <pre>{@code
     * ReduceOp.of("hypot", DataType.FLOAT32, float[].class, (into, received, count) -> {
     *     for (int i = 0; i < count; i++) {
     *         into[i] = (float) Math.sqrt(into[i] * into[i] + received[i] * received[i]);
     *     }
     * });
     * }</pre>
     *
     * @param name    equal on every rank; what the fingerprint compares
     * @param type    element type
     * @param array   array that carries it
     * @param combine see the class for what it must be
     * @param <A>     array
     * @return op that refuses tensors of another type with IllegalArgumentException, before anything moves
     * @throws IllegalArgumentException if such an array does not carry the type
     */
    public static <A> ReduceOp of(String name, DataType type, Class<A> array, SpanCombine<A> combine) {
        return new ReduceOp(named(name), SpanCombiner.of(type, array, combine), 1);
    }

    private static String named(String name) {
        return "user:" + Objects.requireNonNull(name, "name");
    }

    /**
     * Makes SUM of inputs that are multiplied first, in a copy: each product is rounded once to its type, f16 and bf16 are
     * multiplied in f32; integers wrap.
     *
     * @param factor applied by each rank to its own input; the same on every rank, whole for integers
     * @return op
     */
    public static ReduceOp preMultipliedSum(double factor) {
        return new ReduceOp("premulsum:" + factor, null, factor);
    }

    /**
     * Finds a built-in op by its name; {@code mean} and {@code average} are AVG too.
     *
     * @param name for example {@code sum}
     * @return op
     * @throws IllegalArgumentException listing the names if there is no such op
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

    /**
     * Returns the name compared across ranks.
     *
     * @return name
     */
    public String name() {
        return name;
    }

    /**
     * Returns the user's code, for tensors in any memory.
     *
     * @return null for built-in ops, whose kernels the engine has
     */
    public Combiner combiner() {
        return combiner;
    }

    /**
     * Returns the user's code, for arrays; what it is given must carry the element type.
     *
     * @return null for built-in ops, and for code that is written for tensors
     */
    public SpanCombine<?> span() {
        return combiner instanceof SpanCombiner<?> spans ? spans.code() : null;
    }

    /**
     * Returns why the user's code does not combine elements of a type.
     *
     * @param type element type
     * @return empty if it does, and for built-in ops: back ends differ in what they have of those
     */
    public Optional<String> unsupportedBecause(DataType type) {
        Objects.requireNonNull(type, "type");
        if (!(combiner instanceof SpanCombiner<?> spans) || spans.type() == type) {
            return Optional.empty();
        }
        String need = spans.type().label();
        return Optional.of("reduction " + name + " is code for " + need + ", and the elements are " + type.label()
                + ": use a tensor of " + need + ", or code for " + type.label());
    }

    /**
     * Returns what each rank multiplies its input by.
     *
     * @return 1 but for {@link #preMultipliedSum}
     */
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
}
