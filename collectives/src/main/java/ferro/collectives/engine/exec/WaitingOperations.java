package ferro.collectives.engine.exec;

import ferro.collectives.engine.progress.PendingWork;
import ferro.collectives.engine.progress.ProgressLock;

/** The queued collectives of a group, in order; thread-safe. */
public final class WaitingOperations {
    private Operation first;
    private Operation newest;
    private PendingWork last;
    private volatile int size;

    /** Adds an operation and gives it its number; returns false, and does not add it, if no number can be taken. */
    public synchronized boolean add(Operation operation, ProgressLock progressLock) {
        // before its number is taken: see ProgressLock
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

    /** Returns the first without removing it; takes no lock if there is none. */
    Operation peek() {
        return size == 0 ? null : after(null);
    }

    /** Returns the operation behind a waiting one, or the first if the argument is null; null if there is none. */
    synchronized Operation after(Operation waiting) {
        return waiting == null ? first : waiting.following;
    }

    /** Removes the first of those waiting and returns it; null if there is none. */
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

    /** Returns whether none waits. */
    public boolean isEmpty() {
        return size == 0;
    }

    int size() {
        return size;
    }

    /** Returns the first of those waiting whose deadline has passed, or null. */
    synchronized Operation firstLate(long nowNanos) {
        for (Operation each = first; each != null; each = each.following) {
            if (nowNanos - each.work().deadlineNanos() >= 0) {
                return each;
            }
        }
        return null;
    }

    /** Returns the operation that was added last, or null. */
    synchronized PendingWork last() {
        return last;
    }
}
