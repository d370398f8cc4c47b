package ferro.collectives.reduce;

import ferro.DataType;
import ferro.ReduceOp;
import java.util.Optional;
import java.util.Set;

/** A factory that chooses the kernel for a type and an op. */
public final class KernelFactory {
    private static final Set<ReduceOp> OF_FLOATS =
            Set.of(ReduceOp.SUM, ReduceOp.AVG, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX);
    private static final Set<ReduceOp> OF_INTEGERS = Set.of(
            ReduceOp.SUM, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX, ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR);

    /** The value 2^53. From this value on, a double may be the rounded value of a neighbouring integer. */
    private static final double LEAST_NOT_INTEGER = 0x1p53;

    private static final String VECTOR_API = "jdk.incubator.vector";
    private static final String FAMILY = "ferro.collectives.reduce.VectorKernels";

    /** The kernels of the Vector API; null if the kernels cannot run, for the reason in {@link #NO_VECTORS}. */
    static final KernelFamily VECTORS;

    private static final String NO_VECTORS;

    static {
        KernelFamily found = null;
        String absent;
        try {
            found = vectors();
            absent = found == null
                    ? "this JVM was started without --add-modules " + VECTOR_API
                    : found.unusableBecause();
        } catch (ReflectiveOperationException | LinkageError unusable) {
            absent = unusable.toString();
        }
        VECTORS = absent == null ? found : null;
        NO_VECTORS = absent;
    }

    private KernelFactory() {}

    /** Finds the kernels of the Vector API. Returns null if the JVM was started without the Vector API's module. */
    private static KernelFamily vectors() throws ReflectiveOperationException {
        // a loop finds the module, because findModule uses streams, whose first use is slow
        for (Module module : ModuleLayer.boot().modules()) {
            if (VECTOR_API.equals(module.getName())) {
                // module-info does not require the module, because the compiler does not find incubating modules under
                // --release
                KernelFactory.class.getModule().addReads(module);
                return (KernelFamily)
                        Class.forName(FAMILY).getDeclaredConstructor().newInstance();
            }
        }
        return null;
    }

    /**
     * Returns a new kernel, for one thread at a time. A kernel takes a few KiB, so the caller should keep it.
     *
     * <p>The kernel of AVG adds two elements and divides the sum by the world size. An average uses this kernel for the
     * last two terms, and the kernel of SUM for all earlier terms. f32 and f64 round the sum and the quotient. f16 and
     * bf16 add and divide in f32, and round once. The kernel of a sum of multiplied inputs only adds.
     *
     * @param type      element type
     * @param op        reduction
     * @param worldSize number of ranks whose elements are averaged; ops other than AVG do not use this number
     * @return kernel
     * @throws UnsupportedOperationException with the text of {@link #unsupportedBecause} if no such kernel exists
     */
    public static Kernel of(DataType type, ReduceOp op, int worldSize) {
        if (op.combiner() != null) {
            refuse(type, op);
            return new UserKernel(type, op);
        }
        return builtIn(type, op, worldSize, PreMulOperands.NEITHER);
    }

    /**
     * Returns a new kernel of a sum of multiplied inputs, for one thread at a time. The kernel multiplies operands
     * before the kernel adds the products. f16 and bf16 are multiplied in f32. Integers are multiplied by a factor
     * without a fraction and wrap around.
     *
     * @param type       element type
     * @param op         sum of multiplied inputs
     * @param multiplies operands that the kernel multiplies
     * @return kernel
     * @throws UnsupportedOperationException with the text of {@link #unsupportedBecause} if no such kernel exists
     */
    public static Kernel multiplying(DataType type, ReduceOp op, PreMulOperands multiplies) {
        return builtIn(type, op, 1, multiplies);
    }

    private static Kernel builtIn(DataType type, ReduceOp op, int worldSize, PreMulOperands multiplies) {
        BlockKernel plain = plain(type, op, worldSize, multiplies);
        return VECTORS == null ? plain : VECTORS.kernel(type, op, worldSize, multiplies, plain);
    }

    /** Returns a kernel of plain Java, for an op without a user's code. */
    static BlockKernel plain(DataType type, ReduceOp op, int worldSize, PreMulOperands multiplies) {
        refuse(type, op);
        boolean unsigned = type.isUnsigned();
        BlockKernel kernel = switch (type.carrier()) {
            case BYTE -> ByteKernel.of(op, unsigned);
            case SHORT -> type.isFloating() ? halves(type, op, worldSize) : ShortKernel.of(op, unsigned);
            case INT -> IntKernel.of(op, unsigned);
            case LONG -> LongKernel.of(op, unsigned);
            case FLOAT -> FloatKernel.of(op, worldSize);
            case DOUBLE -> DoubleKernel.of(op, worldSize);
        };
        return kernel.multiplying(multiplies, op.factor());
    }

    private static BlockKernel halves(DataType type, ReduceOp op, int worldSize) {
        return type == DataType.FLOAT16 ? Float16Kernel.of(op, worldSize) : Bfloat16Kernel.of(op, worldSize);
    }

    private static void refuse(DataType type, ReduceOp op) {
        Optional<String> reason = unsupportedBecause(type, op);
        if (reason.isPresent()) {
            throw new UnsupportedOperationException(reason.get());
        }
    }

    /**
     * Returns which kernels combine in this JVM.
     *
     * @return text, for example {@code vectors of 512 bits, by memory segments}, or {@code plain Java} with the reason
     *         why no vectors are used
     */
    public static String inForce() {
        return VECTORS == null ? "plain Java, no vectors: " + NO_VECTORS : VECTORS.description();
    }

    /**
     * Returns why no kernel exists for a type and an op. Averages of integers, for example, have no kernel, because
     * {@link IntegerSums} computes them.
     *
     * @param type element type
     * @param op   reduction
     * @return empty if {@link #of} works
     */
    public static Optional<String> unsupportedBecause(DataType type, ReduceOp op) {
        if (op.combiner() != null || builtIn(type).contains(op)) {
            return op.unsupportedBecause(type);
        }
        if (op == ReduceOp.AVG) {
            return Optional.of("no kernel for avg of " + type.label()
                    + ": its sum could wrap; use IntegerSums and the sum of i64");
        }
        if (op == ReduceOp.BAND || op == ReduceOp.BOR || op == ReduceOp.BXOR) {
            return Optional.of("no " + op.name() + " of " + type.label()
                    + ": the bits of a float cannot be combined one by one; use"
                    + " sum product min max avg, or integers");
        }
        return isInteger(op.factor()) || type.isFloating()
                ? Optional.empty()
                : Optional.of("no " + op.name() + " of " + type.label()
                        + ": integers need an integer factor below 2^53; use" + " such a factor, or f32 or f64");
    }

    private static Set<ReduceOp> builtIn(DataType type) {
        return type.isFloating() ? OF_FLOATS : OF_INTEGERS;
    }

    private static boolean isInteger(double factor) {
        return Math.rint(factor) == factor && Math.abs(factor) < LEAST_NOT_INTEGER;
    }
}
