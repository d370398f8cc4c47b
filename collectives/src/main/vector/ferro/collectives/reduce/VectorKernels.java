package ferro.collectives.reduce;

import ferro.DataType;
import ferro.ReduceOp;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShape;

/** Kernels of the Vector API; {@link Kernels} finds this class by its name. */
final class VectorKernels implements KernelFamily {
    private static final Map<String, VectorOperators.Binary> OPS = Map.of(
            ReduceOp.SUM.name(), VectorOperators.ADD,
            ReduceOp.AVG.name(), VectorOperators.ADD,
            ReduceOp.PRODUCT.name(), VectorOperators.MUL,
            ReduceOp.MIN.name(), VectorOperators.MIN,
            ReduceOp.MAX.name(), VectorOperators.MAX,
            ReduceOp.BAND.name(), VectorOperators.AND,
            ReduceOp.BOR.name(), VectorOperators.OR,
            ReduceOp.BXOR.name(), VectorOperators.XOR);
    private static final int VECTOR_BITS = VectorShape.preferredShape().vectorBitSize();

    /** Loops are compiled once in a JVM: a second group starts with those of the first. */
    private final Map<Specialised.Choice, Loops> loops = new ConcurrentHashMap<>();

    @Override
    public Kernel kernel(DataType type, ReduceOp op, BlockKernel plain) {
        if (!OPS.containsKey(op.name())) {
            return plain;
        }
        return new TriedKernel(untried(type, op), plain, lanes(type));
    }

    @Override
    public Kernel untried(DataType type, ReduceOp op) {
        if (type == DataType.FLOAT16) {
            return FloatKernel.of(op, type, new VectorHalves());
        }
        VectorOperators.Binary vectorOp = OPS.get(op.name());
        Loops intoFirst = loops(new Specialised.Choice(type, vectorOp, false));
        Loops intoBoth = loops(new Specialised.Choice(type, vectorOp, true));
        return new VectorKernel(intoFirst, intoBoth, Kernels.plain(type, op), lanes(type));
    }

    @Override
    public String unusableBecause() {
        int jdk = Runtime.version().feature();
        if (jdk < Direct.FIRST_JDK || jdk > Direct.LAST_JDK) {
            return "they reach buffers by " + Direct.BY + ", which JDK " + jdk
                    + " has not: build with the JDK that runs";
        }
        return VECTOR_BITS < 2 * Long.SIZE ? "vectors have " + VECTOR_BITS + " bits here, need 128" : null;
    }

    @Override
    public String description() {
        return "vectors of " + VECTOR_BITS + " bits, by " + Direct.BY;
    }

    private static int lanes(DataType type) {
        return VECTOR_BITS / Byte.SIZE / type.byteSize();
    }

    private Loops loops(Specialised.Choice choice) {
        return loops.computeIfAbsent(choice, VectorKernels::define);
    }

    private static Loops define(Specialised.Choice choice) {
        Class<?> template = choice.type() == DataType.BFLOAT16 ? Bfloat16Loops.class : ElementLoops.class;
        return new Loops(Specialised.define(template, choice));
    }
}
