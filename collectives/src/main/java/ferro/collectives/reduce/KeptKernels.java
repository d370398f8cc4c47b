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
    private final Map<DataType, Map<ReduceOp, Kernel>> byType = new EnumMap<>(DataType.class);

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
        Map<ReduceOp, Kernel> ofType = byType.get(type);
        Kernel known = ofType == null ? null : ofType.get(op);
        return known == null ? make(type, op) : known;
    }

    private Kernel make(DataType type, ReduceOp op) {
        Kernel made = Kernels.of(type, op, worldSize);
        Map<ReduceOp, Kernel> ofType = byType.computeIfAbsent(type, any -> new HashMap<>());
        if (ofType.size() >= MOST) {
            ofType.clear();
        }
        ofType.put(op, made);
        return made;
    }
}
