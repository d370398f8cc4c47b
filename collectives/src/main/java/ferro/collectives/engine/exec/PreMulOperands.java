package ferro.collectives.engine.exec;

import ferro.DataType;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.engine.operands.Prepared;
import ferro.collectives.engine.operands.Schedule;
import ferro.collectives.reduce.KeptKernels;
import ferro.collectives.reduce.PreMulTarget;

/**
 * The multiplied operands of a sum of multiplied inputs. Each element is multiplied when it is first read from the
 * operand, for a copy or for a send. Only the thread that makes progress uses this object, for one operation at a time.
 */
final class PreMulOperands {
    private final KeptKernels kernels;
    private HostTensor kept;
    private ReduceOp op;
    /** Memory that the current operation sends instead of its operand, or null. */
    private HostTensor sent;

    PreMulOperands(KeptKernels kernels) {
        this.kernels = kernels;
    }

    /** Begins an operation. If memory runs out, this method throws and the operation has not begun. */
    void begin(Prepared prepared, HostTensor operand) {
        op = prepared.factor() == 1 ? null : prepared.op;
        boolean sends = op != null && operand != null && prepared.schedule.sendsOperand;
        sent = sends ? buffer(operand.dataType(), operand.elementCount()) : null;
    }

    /** Drops memory that is too large to keep. */
    void forget() {
        sent = null;
        if (kept != null && kept.byteCount() > Schedule.SCRATCH_BYTES_MOST) {
            kept = null;
        }
    }

    private HostTensor buffer(DataType type, long elements) {
        if (kept == null || kept.dataType() != type || kept.elementCount() < elements) {
            int length = Math.toIntExact(elements);
            kept = HostTensor.ofArray(type, type.carrier().newArray(length), 0, length);
        }
        return kept;
    }

    /**
     * Returns the memory from which elements of the operand are sent. The elements have the same index in that memory
     * as in the operand.
     */
    HostTensor sent(HostTensor operand, long from, long elements) {
        if (sent == null) {
            return operand;
        }
        copy(sent, from, operand, from, elements);
        return sent;
    }

    /** Returns whether operands are multiplied. */
    boolean areMade() {
        return op != null;
    }

    /** Copies elements of the operand and multiplies them. The target may be the same memory. */
    void copy(HostTensor into, long to, HostTensor operand, long from, long elements) {
        kernels.of(into.dataType(), op, PreMulTarget.COPY).combine(into, to, operand, from, elements);
    }
}
