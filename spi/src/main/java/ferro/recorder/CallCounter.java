package ferro.recorder;

import ferro.CallCounters;
import ferro.CallCounters.Totals;
import ferro.CollectiveKind;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;

/**
 * A count of the calls of one group on one rank that have ended without failure. Counting creates no object, takes no
 * lock, and does not depend on {@code ferro.recorder.entries}.
 *
 * <p>Only one thread at a time calls {@link #ended}. The lock that a back end holds when an operation ends ensures that
 * no two threads call {@link #ended} at once. Any thread may call {@link #counters}. A version number is odd while
 * counters change, as in {@link OperationRing}, so that a reader gets the counters of one moment.
 */
public final class CallCounter {
    /** Index of the sends. */
    public static final int SEND = CollectiveKind.values().length;
    /** Index of the receives. */
    public static final int RECEIVE = SEND + 1;

    private static final CollectiveKind[] KINDS = CollectiveKind.values();
    /** Number of fields of one kind of call. The fields for calls, bytes and nanoseconds are next to each other. */
    private static final int FIELDS = 3;

    private static final VarHandle NUMBER = MethodHandles.arrayElementVarHandle(long[].class);
    private static final VarHandle VERSION;

    static {
        try {
            VERSION = MethodHandles.lookup().findVarHandle(CallCounter.class, "version", long.class);
        } catch (ReflectiveOperationException missing) {
            throw new ExceptionInInitializerError(missing);
        }
    }

    private final long[] numbers = new long[FIELDS * (RECEIVE + 1)];
    private long version;

    /** Creates a count without calls. */
    public CallCounter() {
        // the fields have their values
    }

    /**
     * Returns the index of a kind of collective.
     *
     * @param kind kind of collective
     * @return index for {@link #ended}
     */
    public static int indexOf(CollectiveKind kind) {
        return kind.ordinal();
    }

    /**
     * Returns the number of calls counted so far. Only the thread that calls {@link #ended} calls this method.
     *
     * @param index index of the kind
     * @return number of calls
     */
    public long calls(int index) {
        return numbers[FIELDS * index];
    }

    /**
     * Counts calls that have ended without failure. One thread at a time calls this method.
     *
     * @param index      index of the kind: {@link #indexOf}, {@link #SEND} or {@link #RECEIVE}
     * @param calls      number of calls: 1, or more for calls that were joined into one operation
     * @param bytes      bytes that this rank contributed; for a receive, the bytes received
     * @param begunNanos time at which the operation was submitted, on any clock
     * @param endedNanos time at which the operation ended, on the same clock
     */
    public void ended(int index, int calls, long bytes, long begunNanos, long endedNanos) {
        long next = version + 1;
        VERSION.setOpaque(this, next);
        VarHandle.storeStoreFence();
        int first = FIELDS * index;
        add(first, calls);
        add(first + 1, bytes);
        add(first + 2, endedNanos - begunNanos);
        VERSION.setRelease(this, next + 1);
    }

    private void add(int at, long more) {
        NUMBER.setOpaque(numbers, at, numbers[at] + more);
    }

    /** {@return the calls so far, as counters of one moment. Any thread may call this method} */
    public CallCounters counters() {
        long[] copy = new long[numbers.length];
        while (!isCopied(copy)) {
            // the thread that counts may have lost its core while it changed the numbers
            Thread.yield();
        }
        Map<CollectiveKind, Totals> collectives = new EnumMap<>(CollectiveKind.class);
        for (CollectiveKind kind : KINDS) {
            collectives.put(kind, totals(copy, indexOf(kind)));
        }
        return new CallCounters(collectives, totals(copy, SEND), totals(copy, RECEIVE));
    }

    private boolean isCopied(long[] copy) {
        long before = (long) VERSION.getAcquire(this);
        for (int at = 0; at < copy.length; at++) {
            copy[at] = (long) NUMBER.getOpaque(numbers, at);
        }
        VarHandle.acquireFence();
        return before % 2 == 0 && before == (long) VERSION.getOpaque(this);
    }

    private static Totals totals(long[] copy, int index) {
        int first = FIELDS * index;
        return new Totals(copy[first], copy[first + 1], Duration.ofNanos(copy[first + 2]));
    }
}
