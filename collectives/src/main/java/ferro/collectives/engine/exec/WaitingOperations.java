package ferro.collectives.engine.exec;

import ferro.collectives.engine.progress.PendingWork;
import ferro.collectives.engine.progress.ProgressLock;

/** The queued collectives of a group, in order; thread-safe. */
public final class WaitingOperations {
    private Operation first;
    private Operation newest;
    private PendingWork last;
    private volatile int size;

    /**
     * Adds an operation and sets its number. If no number can be taken, returns false and does not add the operation.
     */
    public synchronized boolean add(Operation operation, ProgressLock progressLock) {
        // the operation is counted before its number is taken: see ProgressLock
        size++;
        long number = progressLock.next();
        if (number == ProgressLock.NONE) {
            size--;
            return false;
        }
        if (first == null) {
            first = operation;
        } else {
            newest.following = operation;
        }
        newest = operation;
        operation.number(number);
        last = operation.work();
        return true;
    }

    /** Returns the first operation without removing it, or null. Takes no lock if the queue is empty. */
    Operation peek() {
        return size == 0 ? null : after(null);
    }

    /**
     * Returns the operation behind a waiting one, or the first one if the argument is null. Returns null if there is no
     * such operation.
     */
    synchronized Operation after(Operation waiting) {
        return waiting == null ? first : waiting.following;
    }

    /** Removes the first waiting operation and returns it; returns null if there is none. */
    public synchronized Operation poll() {
        Operation taken = first;
        if (taken != null) {
            first = taken.following;
            taken.following = null;
            if (first == null) {
                newest = null;
            }
            size--;
        }
        return taken;
    }

    /** Returns whether no operation waits. */
    public boolean isEmpty() {
        return size == 0;
    }

    int size() {
        return size;
    }

    /** Returns the first waiting operation whose deadline has passed, or null. */
    synchronized Operation firstLate(long nowNanos) {
        for (Operation each = first; each != null; each = each.following) {
            if (nowNanos - each.work().deadlineNanos() >= 0) {
                return each;
            }
        }
        return null;
    }

    /** Returns the waiting operation with the earliest deadline that is before the deadline of another one, or null. */
    synchronized Operation firstToEnd(Operation running) {
        Operation earliest = running;
        for (Operation each = first; each != null; each = each.following) {
            earliest = each.work().deadlineNanos() - earliest.work().deadlineNanos() < 0 ? each : earliest;
        }
        return earliest == running ? null : earliest;
    }

    /** Returns the operation that was added last, or null. */
    synchronized PendingWork last() {
        return last;
    }
}
