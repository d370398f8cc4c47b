package ferro.collectives.engine;

import ferro.HostTensor;
import ferro.spi.CallHeader;
import java.lang.invoke.VarHandle;

/**
 * One collective: its kind, its memory and its position in the order. The object of a blocking call is reused for the
 * next blocking call, so that a call allocates no object. A thread that reads such an object checks by
 * {@link #sequence} whether it is still the same operation.
 */
final class Operation implements CallHeader {
    private final PendingWork work;
    private final OperandStaging staging;
    private Prepared prepared;
    private HostTensor in;
    private HostTensor out;
    private volatile long sequence;
    /** The operation that waits behind this one; only the queue uses this field. */
    Operation following;

    /** Makes an operation without a number; {@code staging} is its additional work before and after, or null. */
    Operation(PendingWork work, Prepared prepared, HostTensor in, HostTensor out, OperandStaging staging) {
        this.work = work;
        this.staging = staging;
        this.prepared = prepared;
        this.in = in;
        this.out = out;
    }

    PendingWork work() {
        return work;
    }

    Prepared prepared() {
        return prepared;
    }

    /** Returns the operand, or null. */
    HostTensor in() {
        return in;
    }

    /** Returns the result, or null. */
    HostTensor out() {
        return out;
    }

    /** Returns whether this operation uses memory other than operand and result. */
    boolean isStaged() {
        return staging != null;
    }

    /** Makes the operand; called when the operation begins. */
    void stage() {
        if (staging != null) {
            in = staging.operand();
            out = staging.result();
        }
    }

    /** Delivers the result; called after the collective has ended. */
    void deliver() {
        if (staging != null) {
            staging.deliver();
        }
    }

    /** Returns the number of this operation in the order; 0 while it has none. */
    @Override
    public long sequence() {
        return sequence;
    }

    void number(long number) {
        work.number(number);
        sequence = number;
    }

    /** Turns this object into another operation, without a number in the order. */
    void become(Prepared next, HostTensor operand, HostTensor result) {
        sequence = 0;
        VarHandle.storeStoreFence();
        prepared = next;
        in = operand;
        out = result;
    }

    /** Drops the references to the caller's memory. */
    void forget() {
        in = null;
        out = null;
    }

    @Override
    public Call call() {
        return prepared.call;
    }
}
