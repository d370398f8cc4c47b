package ferro;

import java.util.List;

/**
 * How elements of one index are combined; only {@link #name()} travels (in the fingerprint), never code.
 *
 * <p>An op must be associative and commutative: plans choose the order. All ranks then see the same bits; built-in kernels
 * make NaNs canonical, a user's op must do so itself.
 */
public final class ReduceOp {
    /** Addition; integers wrap. */
    public static final ReduceOp SUM = new ReduceOp("sum", null);
    /** Multiplication; integers wrap. */
    public static final ReduceOp PRODUCT = new ReduceOp("product", null);
    /** Smaller one; NaN wins. */
    public static final ReduceOp MIN = new ReduceOp("min", null);
    /** Larger one; NaN wins. */
    public static final ReduceOp MAX = new ReduceOp("max", null);
    /** SUM, then one division by the world size; integers toward zero. */
    public static final ReduceOp AVG = new ReduceOp("avg", null);
    /** Bitwise and, integers only. */
    public static final ReduceOp BAND = new ReduceOp("band", null);
    /** Bitwise or, integers only. */
    public static final ReduceOp BOR = new ReduceOp("bor", null);
    /** Bitwise exclusive or, integers only. */
    public static final ReduceOp BXOR = new ReduceOp("bxor", null);

    private static final List<ReduceOp> BUILT_IN = List.of(SUM, PRODUCT, MIN, MAX, AVG, BAND, BOR, BXOR);

    private final String name;
    private final Combiner combiner;

    private ReduceOp(String name, Combiner combiner) {
        this.name = name;
        this.combiner = combiner;
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
     * Makes a user's own op.
     *
     * @param name     equal on every rank; what the fingerprint compares
     * @param combiner associative and commutative, pure
     * @return op; device tensors refuse it with UnsupportedOperationException
     */
    public static ReduceOp of(String name, Combiner combiner) {
        return new ReduceOp("user:" + name, combiner);
    }

    /**
     * Makes SUM of inputs that are multiplied first.
     *
     * @param factor applied by each rank to its own input
     * @return op
     */
    public static ReduceOp preMultipliedSum(double factor) {
        return new ReduceOp("premulsum:" + factor, null);
    }

    /**
     * Finds a built-in op by its name; {@code mean} and {@code average} are AVG too.
     *
     * @param name for example {@code sum}
     * @return op
     * @throws IllegalArgumentException listing the names if there is no such op
     */
    public static ReduceOp parse(String name) {
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

    @Override
    public String toString() {
        return name;
    }
}
