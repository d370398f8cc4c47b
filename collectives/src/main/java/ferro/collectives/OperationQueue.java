package ferro.collectives;

import java.util.ArrayDeque;
import java.util.Deque;

/** The collectives of a group that wait for their turn, in order; thread-safe. */
final class OperationQueue {
    private final Deque<Operation> waiting = new ArrayDeque<>();
    private PendingWork last;
    private volatile int size;

    /** Adds an operation and gives it its number; returns false if there is none, and it is not added then. */
    synchronized boolean add(Operation operation, Turn turn) {
        waiting.add(operation);
        // before its number is taken: see Turn
        size = waiting.size();
        long number = turn.next();
        if (number == Turn.NONE) {
            waiting.removeLast();
            size = waiting.size();
            return false;
        }
        operation.number(number);
        last = operation.work();
        return true;
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
}
