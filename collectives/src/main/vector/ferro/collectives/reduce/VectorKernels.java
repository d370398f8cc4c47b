package ferro.collectives.reduce;

import ferro.DataType;
import ferro.ReduceOp;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShape;

/**
 * The kernels of the Vector API. {@link KernelFactory} finds this class by its name. The Vector API takes about 30 ms to
 * start, so only a run that is long enough for vectors starts the API.
 */
final class VectorKernels implements KernelFamily {
    /** Maximum number of ranks for which {@link HalfLoops} rounds averages as f32 does. */
    private static final int MAX_FLOAT16_RANKS = 1 << 12;

    /** Maximum factor for which all products are numbers that {@link HalfLoops} rounds. */
    private static final double MAX_FLOAT16_FACTOR = 1 << 15;

    /** Loops, which are compiled once per JVM, because all groups use the same loops. */
    private final Map<Loops.LoopConstants, Loops> loops = new ConcurrentHashMap<>();

    @Override
    public Kernel kernel(DataType type, ReduceOp op, int worldSize, PreMulOperands multiplies, BlockKernel plain) {
        boolean served = type != DataType.FLOAT16
                || worldSize <= MAX_FLOAT16_RANKS && Math.abs(op.factor()) <= MAX_FLOAT16_FACTOR;
        return served ? new AdaptiveKernel(() -> untried(type, op, worldSize, multiplies), plain) : plain;
    }

    @Override
    public Kernel untried(DataType type, ReduceOp op, int worldSize, PreMulOperands multiplies) {
        boolean isHalf = type == DataType.FLOAT16 || type == DataType.BFLOAT16;
        boolean isCopy = multiplies == PreMulOperands.COPY;
        if (isHalf && !isCopy && multiplies != PreMulOperands.NEITHER) {
            Kernel copy = untried(type, op, worldSize, PreMulOperands.COPY);
            return new PreMulSumKernel(copy, untried(type, op, worldSize, PreMulOperands.NEITHER), multiplies);
        }
        BlockKernel plain = KernelFactory.plain(type, op, worldSize, multiplies);
        if (type == DataType.FLOAT16 && (op == ReduceOp.PRODUCT || isCopy)) {
            return new VectorFloat16Kernel((Float16Kernel) plain).multiplying(multiplies, op.factor());
        }
        // if the reciprocal is exact, the product and the quotient round the same number, and a division takes ten
        // times as long
        boolean exact = Integer.bitCount(worldSize) == 1;
        VectorOperators.Binary scaling = op != ReduceOp.AVG ? null : exact ? VectorOperators.MUL : VectorOperators.DIV;
        double scale = op != ReduceOp.AVG ? op.factor() : exact ? 1.0 / worldSize : worldSize;
        // loops that write results into the first operand, then those that write into both operands
        Loops[] both = {
            loops(new Loops.LoopConstants(type, operator(op), scaling, multiplies, false, false, false)),
            loops(new Loops.LoopConstants(type, operator(op), scaling, multiplies, true, false, false))
        };
        int lanes = VectorShape.preferredShape().vectorBitSize() / Byte.SIZE / type.byteSize();
        return new VectorKernel(both, plain, lanes, scale);
    }

    private Loops loops(Loops.LoopConstants choice) {
        return loops.computeIfAbsent(choice, Loops::new);
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

    @Override
    public String unusableBecause() {
        return DirectVectorAccess.unusableBecause();
    }

    @Override
    public String description() {
        return "vectors of " + VectorShape.preferredShape().vectorBitSize() + " bits, by " + DirectVectorAccess.by();
    }

    /**
     * A kernel for sums of multiplied inputs of 16-bit floats. The kernel first computes the products of a block, and
     * adds the products while the products are in the first-level cache. One loop for products and sums would have too
     * many operations ({@link Loops}).
     */
    private static final class PreMulSumKernel extends Kernel {
        private static final int BLOCK = 2048;

        private final Kernel copy;
        private final Kernel sum;
        private final PreMulOperands multiplies;
        private final short[] products = new short[BLOCK];
        private final ElementCopier copies = new ElementCopier();

        /** Makes a kernel from a kernel that copies products and a kernel that adds. */
        PreMulSumKernel(Kernel copy, Kernel sum, PreMulOperands multiplies) {
            super(Short.BYTES);
            this.copy = copy;
            this.sum = sum;
            this.multiplies = multiplies;
        }

        @Override
        void combine(Object into, long intoOffset, Object source, long sourceOffset, long count, boolean both) {
            for (long done = 0; done < count; done += BLOCK) {
                long length = Math.min(BLOCK, count - done);
                long at = at(into, intoOffset, done);
                long from = at(source, sourceOffset, done);
                if (multiplies.first()) {
                    copy.combine(into, at, into, at, length);
                }
                if (multiplies.second()) {
                    copy.combine(products, 0, source, from, length);
                    sum.combine(into, at, products, 0, length);
                } else {
                    sum.combine(into, at, source, from, length);
                }
            }
            if (both) {
                copies.copy(DataType.INT16, source, sourceOffset, into, intoOffset, count);
            }
        }
    }
}
