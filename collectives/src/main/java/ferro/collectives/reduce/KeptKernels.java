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
public final class KeptKernels {
    /**
     * Maximum number of ops per type, so that a program that makes a new op for every call does not fill the memory
     * with kernels.
     */
    private static final int MAX = 64;

    private final int worldSize;
    /** Kernels by data type, op and {@link PreMulTarget}. An entry is null until its kernel is needed. */
    private final Map<DataType, Map<ReduceOp, Kernel[]>> byType = new EnumMap<>(DataType.class);

    /**
     * Makes an empty cache.
     *
     * @param worldSize number of ranks of the group, by which kernels of AVG divide
     */
    public KeptKernels(int worldSize) {
        this.worldSize = worldSize;
    }

    /**
     * Returns a kernel. Only the first call for a kernel allocates.
     *
     * @param type element type
     * @param op   reduction
     * @return kernel
     * @throws UnsupportedOperationException in the same cases as {@link Kernels#of}
     */
    public Kernel of(DataType type, ReduceOp op) {
        return of(type, op, PreMulTarget.NEITHER);
    }

    /**
     * Returns a kernel that multiplies operands before it adds them. Only the first call for a kernel allocates.
     *
     * @param type       element type
     * @param op         sum of multiplied inputs, or any op if nothing is multiplied
     * @param multiplies operands that the kernel multiplies
     * @return kernel
     * @throws UnsupportedOperationException in the same cases as {@link Kernels#of}
     */
    public Kernel of(DataType type, ReduceOp op, PreMulTarget multiplies) {
        Map<ReduceOp, Kernel[]> ofType = byType.get(type);
        Kernel[] known = ofType == null ? null : ofType.get(op);
        Kernel kernel = known == null ? null : known[multiplies.ordinal()];
        return kernel == null ? make(type, op, multiplies) : kernel;
    }

    private Kernel make(DataType type, ReduceOp op, PreMulTarget multiplies) {
        Kernel made = multiplies == PreMulTarget.NEITHER
                ? Kernels.of(type, op, worldSize)
                : Kernels.multiplying(type, op, multiplies);
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
            ofOp = new Kernel[PreMulTarget.values().length];
            ofType.put(op, ofOp);
        }
        ofOp[multiplies.ordinal()] = made;
        return made;
    }
}
