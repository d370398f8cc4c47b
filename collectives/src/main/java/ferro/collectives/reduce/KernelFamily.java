package ferro.collectives.reduce;

import ferro.DataType;
import ferro.ReduceOp;

/** Kernels that may be absent: only JDKs that have what they need compile them, so they are found by name. */
interface KernelFamily {
    /**
     * Returns a kernel that gives the same bits as {@code plain} and uses the faster loop, or {@code plain} where the
     * family has none.
     */
    Kernel kernel(DataType type, ReduceOp op, int worldSize, BlockKernel plain);

    /** Returns the family's own kernel, which is used from the first call on; only for ops that the family has. */
    Kernel untried(DataType type, ReduceOp op, int worldSize);

    /** Returns such a kernel of a sum of multiplied inputs. */
    Kernel multiplying(DataType type, double factor, Multiplies multiplies, BlockKernel plain);

    /** Returns the family's own kernel of a sum of multiplied inputs; only for a factor that it can have. */
    Kernel untriedMultiplying(DataType type, double factor, Multiplies multiplies);

    /** Returns why this JVM cannot run the kernels; null if it can. */
    String unusableBecause();

    /** Returns a description of the kernels, with the facts that decide their speed. */
    String description();
}
