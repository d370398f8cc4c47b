package ferro;

import java.time.Duration;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.BinaryOperator;

/**
 * Counters of the calls of one rank in one group, by kind, up to one moment. An object of this class never changes.
 * {@code ProcessGroup.counters()} returns a new object, and {@link #minus} returns the calls between two moments.
 *
 * <p>A call is counted after it has ended without failure, and before its handle reports the end. A call that fails or
 * is refused is not counted. An asynchronous call and a call of a coalesced block are counted like a blocking call.
 *
 * @param collectives calls, bytes and time of each kind of collective that has been called; kinds that were not called
 *     are not in the map
 * @param sends       number, bytes and time of the sends; the bytes of a send are the bytes sent
 * @param receives    number, bytes and time of the receives; the bytes of a receive are the bytes received
 */
public record CallCounters(Map<CollectiveKind, Totals> collectives, Totals sends, Totals receives) {
    /** Counters in which no call is counted. */
    public static final CallCounters NONE = new CallCounters(Map.of(), Totals.NONE, Totals.NONE);

    private static final double NANOS_PER_MILLI = 1e6;

    /**
     * Creates counters. The map is copied, without kinds that have no call.
     *
     * @param collectives numbers of each kind of collective
     * @param sends       numbers of the sends
     * @param receives    numbers of the receives
     * @throws NullPointerException if a component is null
     */
    public CallCounters {
        Objects.requireNonNull(collectives, "collectives");
        Map<CollectiveKind, Totals> called = new EnumMap<>(CollectiveKind.class);
        called.putAll(collectives);
        called.values().removeIf(totals -> totals.calls() == 0);
        collectives = Collections.unmodifiableMap(called);
        Objects.requireNonNull(sends, "sends");
        Objects.requireNonNull(receives, "receives");
    }

    /**
     * The number, the bytes and the time of the calls of one kind.
     *
     * @param calls number of calls
     * @param bytes bytes that this rank contributed: the size of the tensor that the call reads on this rank. A
     *     broadcast and a scatter read only the root's tensor; a barrier reads no tensor. The bytes of a receive are
     *     the bytes received
     * @param time  time of the calls, including the wait for other ranks and the code of a user-defined reduction. The
     *     time of one call begins when the call has been checked and has its plan, and ends when the operation has
     *     ended. In shared memory, the time of a blocking call of at most 4 KiB may begin after this rank has copied
     *     its data into shared memory. Of the blocking calls of at most 4 KiB in shared memory that need not wait for
     *     data, only one of 16 is measured after the first 16. The time of the measured call counts for all of the 16
     *     calls. Times of calls that are in flight at the same time add up. Small calls of a coalesced block that run
     *     as one operation share one time
     */
    public record Totals(long calls, long bytes, Duration time) {
        /** Totals in which no call is counted. */
        public static final Totals NONE = new Totals(0, 0, Duration.ZERO);

        /**
         * Creates the totals of one kind of call.
         *
         * @param calls number of calls
         * @param bytes bytes that this rank contributed
         * @param time  time of the calls
         * @throws IllegalArgumentException if a number is negative
         */
        public Totals {
            Objects.requireNonNull(time, "time");
            if (calls < 0 || bytes < 0 || time.isNegative()) {
                throw new IllegalArgumentException(
                        "a number of calls is negative: " + calls + " calls, " + bytes + " bytes, " + time);
            }
        }

        /**
         * Adds the totals of other calls.
         *
         * @param other totals to add
         * @return sums
         */
        public Totals plus(Totals other) {
            Objects.requireNonNull(other, "other");
            return new Totals(calls + other.calls, bytes + other.bytes, time.plus(other.time));
        }

        /**
         * Subtracts the totals of earlier calls.
         *
         * @param earlier totals of an earlier moment
         * @return differences
         * @throws IllegalArgumentException if a difference is negative, so that {@code earlier} is a later moment
         */
        public Totals minus(Totals earlier) {
            Objects.requireNonNull(earlier, "earlier");
            return new Totals(calls - earlier.calls, bytes - earlier.bytes, time.minus(earlier.time));
        }
    }

    /**
     * Returns the number, the bytes and the time of the calls of one kind of collective.
     *
     * @param kind kind of collective
     * @return totals of the kind; {@link Totals#NONE} if no call of the kind has ended
     */
    public Totals of(CollectiveKind kind) {
        return collectives.getOrDefault(Objects.requireNonNull(kind, "kind"), Totals.NONE);
    }

    /** {@return the totals of all calls, which are the sums over all kinds, sends and receives} */
    public Totals all() {
        Totals all = sends.plus(receives);
        for (Totals each : collectives.values()) {
            all = all.plus(each);
        }
        return all;
    }

    /**
     * Adds the calls that another back end of the same rank has counted, or the calls of another group.
     *
     * @param other counters to add
     * @return sums by kind
     */
    public CallCounters plus(CallCounters other) {
        return combined(Totals::plus, Objects.requireNonNull(other, "other"));
    }

    /**
     * Returns the calls since an earlier moment.
     *
     * @param earlier counters of the same group and rank at an earlier moment
     * @return differences by kind
     * @throws IllegalArgumentException if {@code earlier} has more calls, bytes or time of a kind than these counters
     */
    public CallCounters minus(CallCounters earlier) {
        return combined(Totals::minus, Objects.requireNonNull(earlier, "earlier"));
    }

    private CallCounters combined(BinaryOperator<Totals> by, CallCounters other) {
        Map<CollectiveKind, Totals> all = new EnumMap<>(CollectiveKind.class);
        for (CollectiveKind kind : CollectiveKind.values()) {
            all.put(kind, by.apply(of(kind), other.of(kind)));
        }
        return new CallCounters(all, by.apply(sends, other.sends), by.apply(receives, other.receives));
    }

    /**
     * {@return a table for people. Each kind that has been called has a line with calls, bytes and milliseconds, and
     * the last line has the sums. Each line ends with a line feed}
     */
    @Override
    public String toString() {
        StringBuilder table = new StringBuilder(64);
        table.append(String.format(Locale.ROOT, "%-13s %10s %18s %14s\n", "call", "calls", "bytes", "time ms"));
        collectives.forEach((kind, totals) -> row(table, kind.label(), totals));
        row(table, "send", sends);
        row(table, "recv", receives);
        line(table, "all", all());
        return table.toString();
    }

    private static void row(StringBuilder table, String name, Totals totals) {
        if (totals.calls > 0) {
            line(table, name, totals);
        }
    }

    private static void line(StringBuilder table, String name, Totals totals) {
        double millis = totals.time.toNanos() / NANOS_PER_MILLI;
        table.append(String.format(Locale.ROOT, "%-13s %10d %,18d %14.3f\n", name, totals.calls, totals.bytes, millis));
    }
}
