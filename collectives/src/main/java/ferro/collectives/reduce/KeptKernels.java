package ferro.collectives.reduce;

import ferro.DataType;
import ferro.ReduceOp;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;

/** Keeps the kernels of one group that one thread at a time has used, because making one costs a few KiB. */
public final class KeptKernels {
    /**
     * Most kernels of one type: a program that makes an op for every call must not fill the memory with their kernels.
     */
    private static final int MOST = 64;

    private final int worldSize;
    /** Of an op, a kernel for each of {@link Multiplies}, or null. */
    private final Map<DataType, Map<ReduceOp, Kernel[]>> byType = new EnumMap<>(DataType.class);

    /**
     * Makes one that keeps nothing yet.
     *
     * @param worldSize number of ranks of the group; kernels of AVG divide by it
     */
    public KeptKernels(int worldSize) {
        this.worldSize = worldSize;
    }

    /**
     * Returns a kernel; allocates only at its first use.
     *
     * @param type element type
     * @param op   reduction
     * @return kernel
     * @throws UnsupportedOperationException as {@link Kernels#of}
     */
    public Kernel of(DataType type, ReduceOp op) {
        return of(type, op, Multiplies.NEITHER);
    }

    /**
     * Returns a kernel that multiplies operands before it adds them; allocates only at its first use.
     *
     * @param type       element type
     * @param op         sum of multiplied inputs, or any op if nothing is multiplied
     * @param multiplies what the kernel multiplies
     * @return kernel
     * @throws UnsupportedOperationException as {@link Kernels#of}
     */
    public Kernel of(DataType type, ReduceOp op, Multiplies multiplies) {
        Map<ReduceOp, Kernel[]> ofType = byType.get(type);
        Kernel[] known = ofType == null ? null : ofType.get(op);
        Kernel kernel = known == null ? null : known[multiplies.ordinal()];
        return kernel == null ? make(type, op, multiplies) : kernel;
    }

    private Kernel make(DataType type, ReduceOp op, Multiplies multiplies) {
        Kernel made = multiplies == Multiplies.NEITHER
                ? Kernels.of(type, op, worldSize)
                : Kernels.multiplying(type, op, multiplies);
        Map<ReduceOp, Kernel[]> ofType = byType.computeIfAbsent(type, any -> new HashMap<>());
        if (ofType.size() >= MOST && !ofType.containsKey(op)) {
            ofType.clear();
        }
        ofType.computeIfAbsent(op, any -> new Kernel[Multiplies.values().length])[multiplies.ordinal()] = made;
        return made;
    }
}
