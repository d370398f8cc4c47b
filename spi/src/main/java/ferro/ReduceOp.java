package ferro;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * The reduction that combines elements of one index. Only its {@link #name()} is sent to other ranks, in the fingerprint;
 * code is never sent.
 *
 * <p>A user-defined reduction is code for two elements. The factory names the element type: {@link #ofFloats},
 * {@link #ofDoubles}, {@link #ofInts} or {@link #ofLongs}.
 *
 * {@snippet file="ferro/examples/snippets/TypeSnippetsTest.java" region="reduction" :
 *
 * static final ReduceOp LOG_SUM =
 *         ReduceOp.ofDoubles("log sum", (a, b) -> Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b))));
 * }
 *
 * <p>If that is too slow, use the form for arrays of elements ({@link SpanCombine}). Code for any element type uses the
 * form that gets tensors ({@link Combiner}). All of these must have the following properties, which ferro cannot check:
 * <ul>
 * <li>Associative, since plans choose which partial results are combined. If it is associative only up to rounding, as a
 *     sum of floats is, all ranks still get the same bits, and every run gets the same bits. Other lengths, world sizes and
 *     algorithms may round differently.
 * <li>Commutative to the last bit, since two ranks may each take their own element as {@code into}: {@code a * b * 0.1f} is
 *     commutative, {@code 0.1f * a * b} is not. A maximum by magnitude must define which of 2 and -2 it returns. NaNs must
 *     be canonical, as those of the built-in ops are.
 * <li>Pure: it keeps neither state nor arguments. It runs on the thread that makes progress for the group. One group makes
 *     one call at a time; if ranks or groups of one JVM share the op, it runs on several threads at once.
 * <li>Free of calls of any group: this group refuses them with IllegalStateException; another group may wait for ever for a
 *     rank that waits for this rank.
 * <li>The same on all ranks, as is its name: if two ranks have different code under one name, the results are meaningless.
 * </ul>
 * An exception from this code fails the group on all ranks, with code ABORTED, this rank as culprit, and a text that names
 * the op. Calls on device tensors refuse such an op with UnsupportedOperationException.
 *
 * <p>Two ops are equal if they have the same name and the same {@link #combiner}. Two pre-multiplied sums with the same
 * factor are therefore equal. Calls with equal ops share their plan and kernels, so make a user-defined op once and keep it.
 */
public final class ReduceOp {
    /** Addition; integers wrap. */
    public static final ReduceOp SUM = new ReduceOp("sum", null, 1);
    /** Multiplication; integers wrap. */
    public static final ReduceOp PRODUCT = new ReduceOp("product", null, 1);
    /** Minimum; NaN if an operand is NaN. */
    public static final ReduceOp MIN = new ReduceOp("min", null, 1);
    /** Maximum; NaN if an operand is NaN. */
    public static final ReduceOp MAX = new ReduceOp("max", null, 1);
    /**
     * SUM, then one division by the world size. The combine that completes an element divides it: f32 and f64 round the sum
     * and the quotient; f16 and bf16 add and divide in f32, and round once.
     *
     * <p>For integers it is exact and rounds toward zero: the sum is made in wider numbers and cannot wrap. For this an
     * element of 8 to 32 bits is sent as 8 bytes, and an element of 64 bits as 16 bytes. That is 8 times the bytes of a sum
     * for i8 and u8, 4 times for i16 and u16, and twice for the others. Each rank makes a copy of its operand of that size
     * while the call runs. NCCL refuses AVG of integers with UnsupportedOperationException, since its sum would wrap.
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

    /** Combines the elements of two tensors of any type, through the accessors of {@link HostTensor}. */
    @FunctionalInterface
    public interface Combiner {
        /**
         * Writes {@code into[i] op received[i]} into {@code into[i]}, for all elements. Both tensors have the same length.
         * Each is in an array or in direct memory, and the two may be in different kinds of memory.
         *
         * @param into     operand and result, valid during the call
         * @param received other operand, valid during the call; must not be changed
         */
        void combine(HostTensor into, HostTensor received);
    }

    /**
     * Combines the elements of two arrays; for loops that the JIT compiler vectorises, or for the Vector API.
     *
     * @param <A> array that carries the element type, such as {@code float[]}
     */
    @FunctionalInterface
    public interface SpanCombine<A> {
        /**
         * Writes {@code into[i] op received[i]} into {@code into[i]} for {@code 0 <= i < count}.
         *
         * <p>The arrays are copies, at most a few KiB long. They belong to ferro, which reuses them: elements from
         * {@code count} on are left over from earlier calls, and ferro ignores what is written there.
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
     * @param name     equal on every rank; the fingerprint compares it
     * @param combiner code; see the class for its required properties
     * @return op for every type
     */
    @SuppressWarnings("overloads") // the types of a lambda's parameters select the overload
    public static ReduceOp of(String name, Combiner combiner) {
        return new ReduceOp(named(name), Objects.requireNonNull(combiner, "combiner"), 1);
    }

    /**
     * Makes an op for f32: {@code ReduceOp.ofFloats("hypot", (a, b) -> (float) Math.hypot(a, b))}.
     *
     * @param name    equal on every rank; the fingerprint compares it
     * @param combine code; see the class for its required properties
     * @return op that refuses tensors of another type with IllegalArgumentException, before any data moves
     */
    public static ReduceOp ofFloats(String name, FloatCombine combine) {
        return of(name, DataType.FLOAT32, float[].class, combine);
    }

    /**
     * Makes an op for f32.
     *
     * @param name    as {@link #ofFloats(String, FloatCombine)}
     * @param combine as {@link #ofFloats(String, FloatCombine)}; a lambda needs the types of its
     *                parameters, which select this form
     * @return op that refuses tensors of another type with IllegalArgumentException, before any data moves
     * @deprecated a lambda that only throws fits several forms and does not compile: use {@link #ofFloats}
     */
    @Deprecated
    @SuppressWarnings("overloads") // the types of a lambda's parameters select the overload
    public static ReduceOp of(String name, FloatCombine combine) {
        return ofFloats(name, combine);
    }

    /**
     * Makes an op for f64.
     *
     * @param name    as {@link #ofFloats(String, FloatCombine)}
     * @param combine as {@link #ofFloats(String, FloatCombine)}
     * @return op that refuses tensors of another type with IllegalArgumentException, before any data moves
     */
    public static ReduceOp ofDoubles(String name, DoubleCombine combine) {
        return of(name, DataType.FLOAT64, double[].class, combine);
    }

    /**
     * Makes an op for f64.
     *
     * @param name    as {@link #ofDoubles(String, DoubleCombine)}
     * @param combine as {@link #ofDoubles(String, DoubleCombine)}; a lambda needs the types of its
     *                parameters, which select this form
     * @return op that refuses tensors of another type with IllegalArgumentException, before any data moves
     * @deprecated a lambda that only throws fits several forms and does not compile: use {@link #ofDoubles}
     */
    @Deprecated
    @SuppressWarnings("overloads") // the types of a lambda's parameters select the overload
    public static ReduceOp of(String name, DoubleCombine combine) {
        return ofDoubles(name, combine);
    }

    /**
     * Makes an op for i32; unsigned elements are refused, since most code would treat them as signed ones.
     *
     * @param name    as {@link #ofFloats(String, FloatCombine)}
     * @param combine as {@link #ofFloats(String, FloatCombine)}
     * @return op that refuses tensors of another type with IllegalArgumentException, before any data moves
     */
    public static ReduceOp ofInts(String name, IntCombine combine) {
        return of(name, DataType.INT32, int[].class, combine);
    }

    /**
     * Makes an op for i32.
     *
     * @param name    as {@link #ofInts(String, IntCombine)}
     * @param combine as {@link #ofInts(String, IntCombine)}; a lambda needs the types of its
     *                parameters, which select this form
     * @return op that refuses tensors of another type with IllegalArgumentException, before any data moves
     * @deprecated a lambda that only throws fits several forms and does not compile: use {@link #ofInts}
     */
    @Deprecated
    @SuppressWarnings("overloads") // the types of a lambda's parameters select the overload
    public static ReduceOp of(String name, IntCombine combine) {
        return ofInts(name, combine);
    }

    /**
     * Makes an op for i64; unsigned elements are refused, since most code would treat them as signed ones.
     *
     * @param name    as {@link #ofFloats(String, FloatCombine)}
     * @param combine as {@link #ofFloats(String, FloatCombine)}
     * @return op that refuses tensors of another type with IllegalArgumentException, before any data moves
     */
    public static ReduceOp ofLongs(String name, LongCombine combine) {
        return of(name, DataType.INT64, long[].class, combine);
    }

    /**
     * Makes an op for i64.
     *
     * @param name    as {@link #ofLongs(String, LongCombine)}
     * @param combine as {@link #ofLongs(String, LongCombine)}; a lambda needs the types of its
     *                parameters, which select this form
     * @return op that refuses tensors of another type with IllegalArgumentException, before any data moves
     * @deprecated a lambda that only throws fits several forms and does not compile: use {@link #ofLongs}
     */
    @Deprecated
    @SuppressWarnings("overloads") // the types of a lambda's parameters select the overload
    public static ReduceOp of(String name, LongCombine combine) {
        return ofLongs(name, combine);
    }

    /**
     * Makes an op from code for arrays of elements. The elements may have any type: u32 is passed as {@code int[]}, bits of
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
     * @param name    equal on every rank; the fingerprint compares it
     * @param type    element type
     * @param array   class of the array that carries the type
     * @param combine code; see the class for its required properties
     * @param <A>     array
     * @return op that refuses tensors of another type with IllegalArgumentException, before any data moves
     * @throws IllegalArgumentException if such an array does not carry the type
     */
    public static <A> ReduceOp of(String name, DataType type, Class<A> array, SpanCombine<A> combine) {
        return new ReduceOp(named(name), SpanCombiner.of(type, array, combine), 1);
    }

    private static String named(String name) {
        return "user:" + Objects.requireNonNull(name, "name");
    }

    /**
     * Makes a SUM of inputs that are first multiplied by a factor; the inputs themselves are not changed. Each product is
     * rounded once to its type; f16 and bf16 are multiplied in f32; integers wrap.
     *
     * @param factor factor that each rank applies to its own input; the same on every rank, whole for integers
     * @return op
     */
    public static ReduceOp preMultipliedSum(double factor) {
        return new ReduceOp("premulsum:" + factor, null, factor);
    }

    /**
     * Finds a built-in op by its name; {@code mean} and {@code average} are other names of AVG.
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

    /**
     * Returns the name, which the ranks compare.
     *
     * @return name
     */
    public String name() {
        return name;
    }

    /**
     * Returns the user's code as code for tensors in any memory.
     *
     * @return null for built-in ops, whose kernels are in the engine
     */
    public Combiner combiner() {
        return combiner;
    }

    /**
     * Returns the user's code as code for arrays; the arrays passed to it must carry the element type.
     *
     * @return null for built-in ops, and for code that is written for tensors
     */
    public SpanCombine<?> span() {
        return combiner instanceof SpanCombiner<?> spans ? spans.code() : null;
    }

    /**
     * Returns why the user's code does not support an element type.
     *
     * @param type element type
     * @return empty if it supports the type, and for built-in ops: back ends differ in the types that they support for those
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
     * Returns the factor by which each rank multiplies its input.
     *
     * @return 1 except for {@link #preMultipliedSum}
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
