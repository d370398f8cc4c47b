package ferro.collectives.reduce;

import ferro.DataType;
import ferro.ReduceOp;

/** Kernels that may not be there: compiled only by JDKs that have what they need, hence found by name. */
interface KernelFamily {
    /** Returns a kernel that gives the bits of {@code plain} by whatever is faster, or {@code plain} where the family has none. */
    Kernel kernel(DataType type, ReduceOp op, BlockKernel plain);

    /** Returns the family's own kernel, which serves from the first call on; only for ops that it has. */
    Kernel untried(DataType type, ReduceOp op);

    /** Returns why this JVM cannot run them, null if it can. */
    String unusableBecause();

    /** Returns what they are, with the facts that decide their speed. */
    String description();
}
