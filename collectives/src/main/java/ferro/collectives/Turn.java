package ferro.collectives;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Whose turn it is to drive, and which number the next collective has: one word, so that a blocking call takes both by one
 * instruction and gives the turn back by one more. Thread-safe, no locks.
 *
 * <p>Order without a lock: who queues an operation counts it as waiting first and takes its number then; who goes past the queue
 * reads the word first and whether anything waits then. If the word is the same afterwards, nobody with a lower number waits.
 */
final class Turn {
    /** Instead of a number: there is none to be had. */
    static final long NONE = 0;

    private static final long HELD = 1;
    private static final long CLOSED = 2;
    private static final int NUMBER_SHIFT = 2;
    private static final long NEXT_NUMBER = 1L << NUMBER_SHIFT;
    private static final VarHandle WORD;

    static {
        try {
            WORD = MethodHandles.lookup().findVarHandle(Turn.class, "word", long.class);
        } catch (ReflectiveOperationException missing) {
            throw new ExceptionInInitializerError(missing);
        }
    }

    private volatile long word;
    /** Who may enter again; null on the direct way, which does not. Others may read anything but themselves. */
    private Thread holder;

    private int entries;

    /** Takes the turn if it is free or this thread's already. */
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

    /** Returns what {@link #tryEnterAsNext} is to find unchanged; before the look whether anything waits. */
    long look() {
        return word;
    }

    /** Takes the turn and the next number; {@link #NONE} if the turn is not free, the group is closed, or a number was taken. */
    long tryEnterAsNext(long seen) {
        boolean isFree = (seen & (HELD | CLOSED)) == 0;
        return isFree && WORD.compareAndSet(this, seen, seen + NEXT_NUMBER | HELD) ? (seen >>> NUMBER_SHIFT) + 1 : NONE;
    }

    /** Lets the thread that came by {@link #tryEnterAsNext} enter again. */
    void own() {
        holder = Thread.currentThread();
    }

    /** Gives the turn back, or leaves it to an earlier entry; what is read after it is newer. */
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

    /** Returns whether this thread has come by {@link #tryEnter} or {@link #own}, and not left yet. */
    boolean isMine() {
        return holder == Thread.currentThread();
    }

    boolean isHeld() {
        return (word & HELD) != 0;
    }

    /** Takes the next number; {@link #NONE} if the group is closed. */
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

    /** Gives no more numbers; returns false if that was so already. */
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
