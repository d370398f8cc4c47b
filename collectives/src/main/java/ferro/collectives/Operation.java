package ferro.collectives;

import ferro.HostTensor;
import ferro.spi.CallHeader;
import java.lang.invoke.VarHandle;

/**
 * One collective: what it does, with which memory, in which place of the order. That of a blocking call is used for the next one
 * again, so that a call allocates nothing for it; whoever else looks at it sees by {@link #sequence} whether it is still the same.
 */
final class Operation implements CallHeader {
    private final PendingWork work;
    private final Staging staging;
    private Prepared prepared;
    private HostTensor in;
    private HostTensor out;
    private volatile long sequence;
    /** What waits behind it; belongs to the queue. */
    Operation following;

    /** What an operation does with the caller's memory beside its collective, in its place of the order. */
    interface Staging {
        /** Returns the operand, made of what the operations before have left there. */
        HostTensor operand();

        /** Returns where the collective leaves its result, or null; asked after {@link #operand}. */
        HostTensor result();

        /** Brings the result to where the caller wants it. */
        void deliver();
    }

    /** Makes one whose number is still to be given. */
    Operation(PendingWork work, Prepared prepared, HostTensor in, HostTensor out) {
        this(work, prepared, in, out, null);
    }

    /** Makes one that does something before and after, or nothing if {@code staging} is null. */
    Operation(PendingWork work, Prepared prepared, HostTensor in, HostTensor out, Staging staging) {
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

    /** Returns whether it touches memory beside operand and result. */
    boolean isStaged() {
        return staging != null;
    }

    /** Makes its operand; when it begins. */
    void stage() {
        if (staging != null) {
            in = staging.operand();
            out = staging.result();
        }
    }

    /** Brings its result home; when its collective has ended. */
    void deliver() {
        if (staging != null) {
            staging.deliver();
        }
    }

    /** Returns its place in the order; 0 while it has none. */
    @Override
    public long sequence() {
        return sequence;
    }

    /** Gives it its place in the order. */
    void number(long number) {
        work.number(number);
        sequence = number;
    }

    /** Becomes another one, without a place in the order. */
    void become(Prepared next, HostTensor operand, HostTensor result) {
        sequence = 0;
        VarHandle.storeStoreFence();
        prepared = next;
        in = operand;
        out = result;
    }

    /** Lets go of the caller's memory. */
    void forget() {
        in = null;
        out = null;
    }

    @Override
    public Call call() {
        return prepared.call;
    }
}
