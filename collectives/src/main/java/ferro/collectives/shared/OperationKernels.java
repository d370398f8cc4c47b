package ferro.collectives.shared;

import ferro.DataType;
import ferro.ReduceOp;
import ferro.collectives.reduce.KeptKernels;
import ferro.collectives.reduce.Kernel;
import ferro.collectives.reduce.PreMulTarget;

/** The kernels of the operation under way. Used by the thread that makes progress. */
final class OperationKernels {
    private final KeptKernels kernels;
    private ReduceOp op;
    private DataType type;
    /** Combines while operands are missing. */
    private Kernel combining;
    /** Combines when none is missing. */
    private Kernel completing;
    /** Whether operands are multiplied where they are first read. */
    private boolean multiplies;

    OperationKernels(int worldSize) {
        kernels = new KeptKernels(worldSize);
    }

    /** Begins an operation on elements of a type, or null; {@code how} says how to combine, or is null. */
    void use(DataType elementType, ReduceOp how) {
        multiplies = how != null && how.factor() != 1;
        if (how != null && (how != op || elementType != type)) {
            combining = kernels.of(elementType, how == ReduceOp.AVG ? ReduceOp.SUM : how);
            completing = kernels.of(elementType, how);
            op = how;
            type = elementType;
        }
    }

    boolean multiply() {
        return multiplies;
    }

    /** Returns the kernel that copies elements of the operand, if operands are multiplied. */
    Kernel copying() {
        return kernels.of(type, op, PreMulTarget.COPY);
    }

    /** Returns the kernel of a step; {@code readsOperand} is whether it combines the operand of a rank where that lies. */
    Kernel of(Program work, int step, boolean readsOperand) {
        if (multiplies) {
            return kernels.of(type, op, PreMulTarget.of(work.multiplies[step], readsOperand));
        }
        return work.completes[step] ? completing : combining;
    }
}
