package ferro.collectives;

import java.util.ArrayDeque;
import java.util.Deque;

/** The collectives of a group that wait for their turn, in order, and the sequence numbers; thread-safe. */
final class OperationQueue {
    private final Deque<Operation> waiting = new ArrayDeque<>();
    private long sequence;
    private boolean closed;
    private PendingWork last;
    private volatile int size;

    /** Returns the number of what is added next; it is taken by {@link #add}, so that a call that fails before has none. */
    synchronized long nextSequence() {
        return sequence + 1;
    }

    synchronized void add(Operation operation) {
        waiting.add(operation);
        sequence++;
        last = operation.work();
        size = waiting.size();
    }

    /** Returns the first without taking it; costs no lock where there is none. */
    Operation peek() {
        if (size == 0) {
            return null;
        }
        synchronized (this) {
            return waiting.peek();
        }
    }

    synchronized Operation poll() {
        Operation first = waiting.poll();
        size = waiting.size();
        return first;
    }

    boolean isEmpty() {
        return size == 0;
    }

    /** Returns the first of those waiting whose deadline has passed, or null. */
    synchronized Operation firstLate(long nowNanos) {
        for (Operation operation : waiting) {
            if (nowNanos - operation.work().deadlineNanos() >= 0) {
                return operation;
            }
        }
        return null;
    }

    /** Returns the operation that was added last, or null. */
    synchronized PendingWork last() {
        return last;
    }

    /** Takes no more operations; returns false if that was so already. */
    synchronized boolean close() {
        boolean open = !closed;
        closed = true;
        return open;
    }

    synchronized boolean isClosed() {
        return closed;
    }
}
