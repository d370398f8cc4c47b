package ferro.collectives.reduce;

import ferro.DataType;
import ferro.ReduceOp;

/**
 * A family of kernels that may be absent. Only a JDK with the Vector API can compile the kernels of a family, so
 * {@link KernelFactory} finds the class of the kernels by its name.
 */
interface KernelFamily {
    /**
     * Returns a kernel that gives the same bits as {@code plain}, and uses the faster loop: the loop of this family or
     * the loop of {@code plain}. Returns {@code plain} if the family has no kernel.
     */
    Kernel kernel(DataType type, ReduceOp op, int worldSize, PreMulOperands multiplies, BlockKernel plain);

    /**
     * Returns the kernel of this family without a comparison of speed. This family must have a kernel for the
     * arguments.
     */
    Kernel untried(DataType type, ReduceOp op, int worldSize, PreMulOperands multiplies);

    /** Returns why this JVM cannot run the kernels; null if this JVM can run the kernels. */
    String unusableBecause();

    /** Returns a description of the kernels, with the facts that decide their speed. */
    String description();
}
