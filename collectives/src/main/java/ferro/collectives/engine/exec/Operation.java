package ferro.collectives.engine.exec;

import ferro.HostTensor;
import ferro.collectives.engine.operands.Prepared;
import ferro.collectives.engine.progress.PendingWork;
import ferro.spi.CallHeader;
import java.lang.invoke.VarHandle;

/**
 * One collective: what it does, with which memory, at which position in the order. The object of a blocking call is reused
 * for the next one, so that a call does not allocate it. Another thread that reads it tells by {@link #sequence} whether it
 * is still the same operation.
 */
public final class Operation implements CallHeader {
    private final PendingWork work;
    private final OperandStaging staging;
    private Prepared prepared;
    private HostTensor in;
    private HostTensor out;
    private volatile long sequence;
    /** The operation that waits behind it; belongs to the queue. */
    Operation following;

    /** What an operation does with the caller's memory in addition to its collective, at its position in the order. */
    interface OperandStaging {
        /** Returns the operand, made from the results of the operations before it. */
        HostTensor operand();

        /** Returns where the collective leaves its result, or null; called after {@link #operand}. */
        HostTensor result();

        /** Copies the result to where the caller wants it. */
        void deliver();
    }

    /** Makes an operation whose number is set later. */
    public Operation(PendingWork work, Prepared prepared, HostTensor in, HostTensor out) {
        this(work, prepared, in, out, null);
    }

    /** Makes an operation that does something before and after, or nothing if {@code staging} is null. */
    Operation(PendingWork work, Prepared prepared, HostTensor in, HostTensor out, OperandStaging staging) {
        this.work = work;
        this.staging = staging;
        this.prepared = prepared;
        this.in = in;
        this.out = out;
    }

    /** Returns the handle. */
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

    /** Returns whether it uses memory other than operand and result. */
    boolean isStaged() {
        return staging != null;
    }

    /** Makes its operand; called when it begins. */
    void stage() {
        if (staging != null) {
            in = staging.operand();
            out = staging.result();
        }
    }

    /** Delivers its result; called when its collective has ended. */
    void deliver() {
        if (staging != null) {
            staging.deliver();
        }
    }

    /** Returns its number in the order; 0 while it has none. */
    @Override
    public long sequence() {
        return sequence;
    }

    /** Sets its number in the order. */
    void number(long number) {
        work.number(number);
        sequence = number;
    }

    /** Makes this another operation, without a number in the order. */
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
