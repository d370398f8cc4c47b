package ferro.collectives.reduce;

import ferro.DataType;
import ferro.ReduceOp;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShape;

/**
 * The kernels of the Vector API. {@link Kernels} finds this class by its name. The API takes about 30 ms to start, so
 * it is first used when a run is long enough for it.
 */
final class VectorKernels implements KernelFamily {
    private static final Set<ReduceOp> BUILT_IN = Set.of(
            ReduceOp.SUM,
            ReduceOp.AVG,
            ReduceOp.PRODUCT,
            ReduceOp.MIN,
            ReduceOp.MAX,
            ReduceOp.BAND,
            ReduceOp.BOR,
            ReduceOp.BXOR);

    /** Maximum number of ranks for which {@link HalfLoops} rounds averages as f32 does. */
    private static final int MAX_FLOAT16_RANKS = 1 << 12;

    /** Maximum factor for which all products are numbers that {@link HalfLoops} rounds. */
    private static final double MAX_FLOAT16_FACTOR = 1 << 15;

    /** Loops, which are compiled once per JVM: a second group uses the compiled loops of the first. */
    private final Map<Specialised.Choice, Loops> loops = new ConcurrentHashMap<>();

    @Override
    public Kernel kernel(DataType type, ReduceOp op, int worldSize, BlockKernel plain) {
        boolean served = BUILT_IN.contains(op) && !(type == DataType.FLOAT16 && worldSize > MAX_FLOAT16_RANKS);
        return served ? new TriedKernel(() -> untried(type, op, worldSize), plain) : plain;
    }

    @Override
    public Kernel untried(DataType type, ReduceOp op, int worldSize) {
        VectorOperators.Binary vectorOp = operator(op);
        // if the reciprocal is exact, the product and the quotient round the same number, and a division takes ten
        // times as long
        boolean exact = Integer.bitCount(worldSize) == 1;
        double scale = exact ? 1.0 / worldSize : worldSize;
        VectorOperators.Binary scaling = op != ReduceOp.AVG ? null : exact ? VectorOperators.MUL : VectorOperators.DIV;
        BlockKernel plain = Kernels.plain(type, op, worldSize);
        if (type == DataType.FLOAT16 && op == ReduceOp.PRODUCT) {
            return new VectorFloat16Kernel((Float16Kernel) plain);
        }
        return new VectorKernel(loops(type, vectorOp, scaling, PreMulTarget.NEITHER), plain, lanes(type), scale);
    }

    @Override
    public Kernel multiplying(DataType type, double factor, PreMulTarget multiplies, BlockKernel plain) {
        boolean served = type != DataType.FLOAT16 || Math.abs(factor) <= MAX_FLOAT16_FACTOR;
        return served ? new TriedKernel(() -> untriedMultiplying(type, factor, multiplies), plain) : plain;
    }

    @Override
    public Kernel untriedMultiplying(DataType type, double factor, PreMulTarget multiplies) {
        if (multiplies == PreMulTarget.NEITHER) {
            return untried(type, ReduceOp.SUM, 1);
        }
        boolean isHalf = type == DataType.FLOAT16 || type == DataType.BFLOAT16;
        if (isHalf && multiplies != PreMulTarget.COPY) {
            return new ProductsFirst(
                    untriedMultiplying(type, factor, PreMulTarget.COPY), untried(type, ReduceOp.SUM, 1), multiplies);
        }
        if (type == DataType.FLOAT16) {
            Float16Kernel sum = (Float16Kernel) Kernels.plain(type, ReduceOp.SUM, 1);
            return new VectorFloat16Kernel(sum).multiplying(multiplies, factor);
        }
        BlockKernel plain = Kernels.plain(type, ReduceOp.SUM, 1).multiplying(multiplies, factor);
        return new VectorKernel(loops(type, VectorOperators.ADD, null, multiplies), plain, lanes(type), factor);
    }

    @Override
    public String unusableBecause() {
        return Direct.unusableBecause();
    }

    @Override
    public String description() {
        return "vectors of " + VectorShape.preferredShape().vectorBitSize() + " bits, by " + Direct.by();
    }

    private static VectorOperators.Binary operator(ReduceOp op) {
        return switch (op.name()) {
            case "product" -> VectorOperators.MUL;
            case "min" -> VectorOperators.MIN;
            case "max" -> VectorOperators.MAX;
            case "band" -> VectorOperators.AND;
            case "bor" -> VectorOperators.OR;
            case "bxor" -> VectorOperators.XOR;
            default -> VectorOperators.ADD;
        };
    }

    private static int lanes(DataType type) {
        return VectorShape.preferredShape().vectorBitSize() / Byte.SIZE / type.byteSize();
    }

    /** Returns the loops that write results into the first operand, then those that write into both operands. */
    private Loops[] loops(
            DataType type, VectorOperators.Binary op, VectorOperators.Binary scaling, PreMulTarget multiplies) {
        return new Loops[] {
            loops(new Specialised.Choice(type, op, scaling, multiplies, false, false, false)),
            loops(new Specialised.Choice(type, op, scaling, multiplies, true, false, false))
        };
    }

    private Loops loops(Specialised.Choice choice) {
        return loops.computeIfAbsent(choice, Loops::new);
    }
}
