package ferro.collectives.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The progress lock of a group, and the number of the next collective, in one word: a blocking call takes both with one
 * instruction, and releases the lock with one more. Thread-safe, without a JDK lock.
 *
 * <p>How the order is kept without a lock: a thread that queues an operation first counts it as waiting, and then takes
 * its number. A thread that bypasses the queue first reads the word, and then whether any operation waits. If the word
 * is unchanged afterwards, no operation with a lower number waits.
 */
final class ProgressLock {
    /** Returned instead of a number if none can be taken. */
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
     * The thread that may enter again; null on the fast path, which does not. Other threads may read any value here
     * except themselves.
     */
    private Thread holder;

    private int entries;

    /** Takes the progress lock if it is free, or held by this thread already. */
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
     * Returns the word that {@link #tryEnterAsNext} has to find unchanged; called before checking whether any operation
     * waits.
     */
    long look() {
        return word;
    }

    /**
     * Takes the progress lock and the next number; returns {@link #NONE} if the lock is held, the group is closed, or a
     * number was taken meanwhile.
     */
    long tryEnterAsNext(long seen) {
        boolean isFree = (seen & (HELD | CLOSED)) == 0;
        return isFree && WORD.compareAndSet(this, seen, seen + NEXT_NUMBER | HELD) ? (seen >>> NUMBER_SHIFT) + 1 : NONE;
    }

    /** Lets the thread that entered by {@link #tryEnterAsNext} enter again. */
    void own() {
        holder = Thread.currentThread();
    }

    /** Releases the progress lock, or leaves it to an earlier entry of this thread; reads after it see newer values. */
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

    /** Returns whether this thread has entered by {@link #tryEnter} or {@link #own}, and has not left yet. */
    boolean isMine() {
        return holder == Thread.currentThread();
    }

    /**
     * Returns the thread that has entered by {@link #tryEnter} or {@link #own}, as another thread sees it without
     * waiting; null if there is none.
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

    /** Closes the lock, so that it gives no more numbers; returns false if it was closed already. */
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
}
