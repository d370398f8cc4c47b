package ferro.collectives.reduce;

import ferro.DataType;
import ferro.ReduceOp;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;

/**
 * A cache of the kernels of one group, because making a kernel allocates a few KiB. One thread at a time may use this
 * cache.
 */
public final class KernelCache {
    /**
     * Maximum number of ops per type, so that a program that makes a new op for every call does not fill the memory
     * with kernels.
     */
    private static final int MAX = 64;

    private final int worldSize;
    /** Kernels by data type, op and {@link PreMulOperands}. An entry is null until its kernel is needed. */
    private final Map<DataType, Map<ReduceOp, Kernel[]>> byType = new EnumMap<>(DataType.class);

    /**
     * Makes an empty cache.
     *
     * @param worldSize number of ranks of the group, by which kernels of AVG divide
     */
    public KernelCache(int worldSize) {
        this.worldSize = worldSize;
    }

    /**
     * Returns a kernel. Only the first call for a kernel allocates.
     *
     * @param type element type
     * @param op   reduction
     * @return kernel
     * @throws UnsupportedOperationException in the same cases as {@link KernelFactory#of}
     */
    public Kernel of(DataType type, ReduceOp op) {
        return of(type, op, PreMulOperands.NEITHER);
    }

    /**
     * Returns a kernel that multiplies operands before it adds them. Only the first call for a kernel allocates.
     *
     * @param type       element type
     * @param op         sum of multiplied inputs, or any op if nothing is multiplied
     * @param multiplies operands that the kernel multiplies
     * @return kernel
     * @throws UnsupportedOperationException in the same cases as {@link KernelFactory#of}
     */
    public Kernel of(DataType type, ReduceOp op, PreMulOperands multiplies) {
        Map<ReduceOp, Kernel[]> ofType = byType.get(type);
        Kernel[] known = ofType == null ? null : ofType.get(op);
        Kernel kernel = known == null ? null : known[multiplies.ordinal()];
        return kernel == null ? make(type, op, multiplies) : kernel;
    }

    private Kernel make(DataType type, ReduceOp op, PreMulOperands multiplies) {
        Kernel made = multiplies == PreMulOperands.NEITHER
                ? KernelFactory.of(type, op, worldSize)
                : KernelFactory.multiplying(type, op, multiplies);
        Map<ReduceOp, Kernel[]> ofType = byType.get(type);
        if (ofType == null) {
            ofType = new HashMap<>();
            byType.put(type, ofType);
        }
        Kernel[] ofOp = ofType.get(op);
        if (ofOp == null) {
            if (ofType.size() >= MAX) {
                ofType.clear();
            }
            ofOp = new Kernel[PreMulOperands.values().length];
            ofType.put(op, ofOp);
        }
        ofOp[multiplies.ordinal()] = made;
        return made;
    }
}
