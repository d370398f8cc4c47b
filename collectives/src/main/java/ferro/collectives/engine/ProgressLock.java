package ferro.collectives.engine;

import ferro.collectives.engine.OperationQueue.Operation;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The order of a group's collectives: the progress lock, the number of the next collective, and the queued collectives.
 * One 64-bit word holds the state of the lock and the number. So a blocking call takes the lock and a number with one
 * instruction, and releases the lock with another instruction, without a JDK lock. Thread-safe.
 *
 * <p>A thread that queues an operation first counts the operation as waiting, and then takes a number. A thread that
 * bypasses the queue first reads the word, and then checks whether an operation waits. If the word is unchanged when a
 * bypassing thread takes its number, no operation with a lower number waits. So operations keep their order without a
 * lock.
 */
final class ProgressLock {
    /** The value that a method returns if no number can be taken. */
    static final long NONE = 0;

    private static final long HELD = 1;
    private static final long CLOSED = 2;
    private static final int NUMBER_SHIFT = 2;
    private static final long NEXT_NUMBER = 1L << NUMBER_SHIFT;
    private static final VarHandle WORD;
    private static final VarHandle HOLDER;

    static {
        try {
            WORD = MethodHandles.lookup().findVarHandle(ProgressLock.class, "word", long.class);
            HOLDER = MethodHandles.lookup().findVarHandle(ProgressLock.class, "holder", Thread.class);
        } catch (ReflectiveOperationException missing) {
            throw new ExceptionInInitializerError(missing);
        }
    }

    private volatile long word;
    /**
     * The thread that may take the progress lock again; null on the fast path, which never takes the lock twice. Any
     * other thread may read an old value of this field, but never itself.
     */
    private Thread holder;

    private int entries;
    /** The first waiting operation. Each waiting operation refers to the next waiting operation. */
    private Operation first;

    private Operation newest;
    private PendingWork last;
    private volatile int size;

    /** Takes the progress lock if the lock is free or this thread already holds the lock. */
    boolean tryEnter() {
        if (holder == Thread.currentThread()) {
            entries++;
            return true;
        }
        long now = word;
        while ((now & HELD) == 0) {
            if (WORD.compareAndSet(this, now, now | HELD)) {
                holder = Thread.currentThread();
                return true;
            }
            now = word;
        }
        return false;
    }

    /**
     * Returns the word that holds the lock and the next number. {@link #tryEnterAsNext} succeeds only if the word is
     * unchanged. The caller reads the word before the caller checks whether an operation waits.
     */
    long look() {
        return word;
    }

    /**
     * Takes the progress lock and the next number. Returns {@link #NONE} if the lock is held, the group is closed, or
     * another thread has taken a number since the caller read {@code seen}.
     */
    long tryEnterAsNext(long seen) {
        boolean isFree = (seen & (HELD | CLOSED)) == 0;
        return isFree && WORD.compareAndSet(this, seen, seen + NEXT_NUMBER | HELD) ? (seen >>> NUMBER_SHIFT) + 1 : NONE;
    }

    /** Lets the thread that took the lock by {@link #tryEnterAsNext} take the lock again. */
    void own() {
        holder = Thread.currentThread();
    }

    /**
     * Releases the lock, or keeps the lock for an earlier entry of this thread. Reads after the release see newer
     * values.
     */
    void leave() {
        if (entries > 0) {
            entries--;
            return;
        }
        if (holder != null) {
            holder = null;
        }
        WORD.getAndAdd(this, -HELD);
    }

    /** Returns whether this thread holds the lock after {@link #tryEnter} or {@link #own}. */
    boolean isMine() {
        return holder == Thread.currentThread();
    }

    /**
     * Returns the thread that holds the lock after {@link #tryEnter} or {@link #own}, or null. Another thread may call
     * this method, which does not wait.
     */
    Thread holder() {
        return isHeld() ? (Thread) HOLDER.getOpaque(this) : null;
    }

    boolean isHeld() {
        return (word & HELD) != 0;
    }

    /** Takes the next number; returns {@link #NONE} if the group is closed. */
    long next() {
        while (true) {
            long now = word;
            if ((now & CLOSED) != 0) {
                return NONE;
            }
            if (WORD.compareAndSet(this, now, now + NEXT_NUMBER)) {
                return (now >>> NUMBER_SHIFT) + 1;
            }
        }
    }

    /** Closes the lock, so that no more numbers can be taken. Returns false if the lock was already closed. */
    boolean close() {
        while (true) {
            long now = word;
            if ((now & CLOSED) != 0) {
                return false;
            }
            if (WORD.compareAndSet(this, now, now | CLOSED)) {
                return true;
            }
        }
    }

    boolean isClosed() {
        return (word & CLOSED) != 0;
    }

    /** Adds an operation and sets its number. Returns false, and adds nothing, if no number can be taken. */
    synchronized boolean add(Operation operation) {
        // the operation is counted before its number is taken
        size++;
        long number = next();
        if (number == NONE) {
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

    /** Returns the operation after a waiting operation, or the first operation for null. Returns null at the end. */
    synchronized Operation after(Operation waiting) {
        return waiting == null ? first : waiting.following;
    }

    synchronized Operation poll() {
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

    boolean isEmpty() {
        return size == 0;
    }

    int size() {
        return size;
    }

    synchronized Operation firstLate(long nowNanos) {
        for (Operation each = first; each != null; each = each.following) {
            if (nowNanos - each.work().deadlineNanos() >= 0) {
                return each;
            }
        }
        return null;
    }

    /** Returns the waiting operation with the earliest deadline; null if {@code running} has an earlier deadline. */
    synchronized Operation firstToEnd(Operation running) {
        Operation earliest = running;
        for (Operation each = first; each != null; each = each.following) {
            earliest = each.work().deadlineNanos() - earliest.work().deadlineNanos() < 0 ? each : earliest;
        }
        return earliest == running ? null : earliest;
    }

    synchronized PendingWork last() {
        return last;
    }
}
