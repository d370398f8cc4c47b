package ferro.collectives.reduce;

import ferro.DataType;
import ferro.ReduceOp;
import java.lang.invoke.MethodHandles;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShape;

/**
 * Kernels of the Vector API; {@link Kernels} finds this class by its name. The API itself is not touched before a run is long
 * enough for it: it takes some 30 ms to start.
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

    /** Loops are compiled once in a JVM: a second group starts with those of the first. */
    private final Map<Specialised.Choice, Loops> loops = new ConcurrentHashMap<>();

    private final Map<Specialised.Choice, MethodHandles.Lookup> ofFloat16 = new ConcurrentHashMap<>();

    @Override
    public Kernel kernel(DataType type, ReduceOp op, int worldSize, BlockKernel plain) {
        return BUILT_IN.contains(op) ? new TriedKernel(() -> untried(type, op, worldSize), plain) : plain;
    }

    @Override
    public Kernel untried(DataType type, ReduceOp op, int worldSize) {
        VectorOperators.Binary vectorOp = operator(op);
        // both round the same number where the reciprocal is exact, and a division takes ten times as long
        boolean exact = Integer.bitCount(worldSize) == 1;
        double scale = exact ? 1.0 / worldSize : worldSize;
        VectorOperators.Binary scaling = op != ReduceOp.AVG ? null : exact ? VectorOperators.MUL : VectorOperators.DIV;
        BlockKernel plain = Kernels.plain(type, op, worldSize);
        if (plain instanceof Float16Kernel halves) {
            Specialised.Choice choice = new Specialised.Choice(type, vectorOp, scaling, false);
            MethodHandles.Lookup defined =
                    ofFloat16.computeIfAbsent(choice, any -> Specialised.define(Float16Loops.class, any));
            return new VectorFloat16Kernel(defined, halves, scale);
        }
        Loops intoFirst = loops(new Specialised.Choice(type, vectorOp, scaling, false));
        Loops intoBoth = loops(new Specialised.Choice(type, vectorOp, scaling, true));
        return new VectorKernel(intoFirst, intoBoth, plain, lanes(type), scale);
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

    private Loops loops(Specialised.Choice choice) {
        return loops.computeIfAbsent(choice, VectorKernels::define);
    }

    private static Loops define(Specialised.Choice choice) {
        Class<?> template = choice.type() == DataType.BFLOAT16 ? Bfloat16Loops.class : ElementLoops.class;
        return new Loops(Specialised.define(template, choice));
    }
}
