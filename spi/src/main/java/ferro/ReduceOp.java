package ferro;

import java.util.List;
import java.util.Objects;

/**
 * How elements of one index are combined; only {@link #name()} travels (in the fingerprint), never code.
 *
 * <p>An op must be associative and commutative: plans choose the order. All ranks then see the same bits; built-in kernels
 * make NaNs canonical, a user's op must do so itself.
 *
 * <p>Two ops are equal if they have one name and one {@link #combiner}: multiplied sums of one factor are, however often made.
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
     * bits travels as 8 bytes and one of 64 bits as 16, which is 8 times the bytes of a sum for i8 and u8, 4 times for i16, twice
     * for the others, and each rank makes a copy of its operand of that size while the call runs. NCCL, which would let the sum
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

    /** Combines two runs of elements. */
    @FunctionalInterface
    public interface Combiner {
        /**
         * Writes {@code into[i] op received[i]} into {@code into[i]}.
         *
         * @param into     operand and result
         * @param received other operand, valid during the call
         */
        void combine(HostTensor into, HostTensor received);
    }

    /**
     * Makes a user's own op. Make it once and keep it: calls share their plan where name and combiner are the same.
     *
     * @param name     equal on every rank; what the fingerprint compares
     * @param combiner associative and commutative, pure
     * @return op; device tensors refuse it with UnsupportedOperationException
     */
    public static ReduceOp of(String name, Combiner combiner) {
        Objects.requireNonNull(name, "name");
        return new ReduceOp("user:" + name, Objects.requireNonNull(combiner, "combiner"), 1);
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
     * Returns the user's code.
     *
     * @return null for built-in ops, whose kernels the engine has
     */
    public Combiner combiner() {
        return combiner;
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
        return this == other || other instanceof ReduceOp op && combiner == op.combiner && name.equals(op.name);
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
