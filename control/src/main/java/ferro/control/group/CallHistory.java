package ferro.control.group;

import ferro.spi.CallHeader;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The last operations that this rank has called. Other ranks can ask about the operations in this history. Thread-safe
 * without locks. Every call of the user is recorded, so {@link #add} allocates nothing once every page exists.
 *
 * <p>An entry is a sequence lock: a writer clears the number of the entry while the call of the entry changes. A reader
 * reads the number before and after the call, and ignores the entry if the two numbers differ. If the entry already
 * holds the same call, the writer does not store the call again, because a store costs more than a comparison.
 */
final class CallHistory {
    private static final int PAGE = 16;
    private static final int PAGES = 64;
    private static final VarHandle NUMBER = MethodHandles.arrayElementVarHandle(long[].class);
    private static final VarHandle PAGE_OF = MethodHandles.arrayElementVarHandle(CallPage[].class);
    private static final VarHandle NEWEST;

    static {
        try {
            NEWEST = MethodHandles.lookup().findVarHandle(CallHistory.class, "newest", long.class);
        } catch (ReflectiveOperationException missing) {
            throw new ExceptionInInitializerError(missing);
        }
    }

    private final CallPage[] pages = new CallPage[PAGES];
    /** The approximate last number. If two operations are added at the same time, the smaller number may remain. */
    private long newest;

    /** A block of calls and their sequence numbers. The number 0 means that the entry has no call. */
    private static final class CallPage {
        final long[] numbers = new long[PAGE];
        final CallHeader.Call[] calls = new CallHeader.Call[PAGE];
    }

    void add(long sequence, CallHeader.Call call) {
        CallPage page = pages[page(sequence)];
        if (page == null) {
            page = newPage(sequence);
        }
        int place = place(sequence);
        if (page.calls[place] != call) {
            NUMBER.setOpaque(page.numbers, place, 0L);
            VarHandle.storeStoreFence();
            page.calls[place] = call;
        }
        NUMBER.setRelease(page.numbers, place, sequence);
        NEWEST.setRelease(this, sequence);
    }

    /** Returns the operation of a sequence number; null for an operation not called yet or called too long ago. */
    CallHeader find(long sequence) {
        CallPage page = sequence <= 0 ? null : (CallPage) PAGE_OF.getAcquire(pages, page(sequence));
        if (page == null) {
            return null;
        }
        int place = place(sequence);
        long before = (long) NUMBER.getAcquire(page.numbers, place);
        CallHeader.Call call = page.calls[place];
        VarHandle.loadLoadFence();
        long after = (long) NUMBER.getOpaque(page.numbers, place);
        return before == sequence && after == sequence ? CallHeader.of(sequence, call) : null;
    }

    /** Returns the sequence number of the last operation called, 0 if none. */
    long last() {
        long last = (long) NEWEST.getAcquire(this);
        while (find(last + 1) != null) {
            last++;
        }
        return last;
    }

    private CallPage newPage(long sequence) {
        CallPage made = new CallPage();
        CallPage there = (CallPage) PAGE_OF.compareAndExchange(pages, page(sequence), null, made);
        return there == null ? made : there;
    }

    private static int page(long sequence) {
        return (int) (sequence / PAGE) & (PAGES - 1);
    }

    private static int place(long sequence) {
        return (int) sequence & (PAGE - 1);
    }
}
