package ferro.spi;

import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The lines that a rank prints while it waits in a join of a group. The first line is printed after 3 s of joining, and
 * later lines at least 10 s apart. Several parts of a join print one after another, and the distance of 10 s holds for
 * all parts together. Any thread may call the methods.
 *
 * <pre>{@code
 * JoinProgressPrinter.PhasePrinter lines =
 *         JoinProgressPrinter.resume("world", context).waiting(() -> "waiting for rank 0");
 * try {
 *     ...
 * } finally {
 *     lines.close();
 * }
 * }</pre>
 */
public final class JoinProgressPrinter {
    private static final long FIRST_LINE_NANOS = TimeUnit.SECONDS.toNanos(3);
    private static final long LATER_LINES_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final RankContext context;
    private final LineSchedule pace;

    private JoinProgressPrinter(RankContext context, LineSchedule pace) {
        this.context = context;
        this.pace = pace;
    }

    /**
     * Begins the lines of a new join. The first line follows after 3 s.
     *
     * @param group   name of the group
     * @param context context of the rank
     * @return lines of this join
     */
    public static JoinProgressPrinter begin(String group, RankContext context) {
        Objects.requireNonNull(group, "group");
        Objects.requireNonNull(context, "context");
        LineSchedule fresh = new LineSchedule(context.nanoTime() + FIRST_LINE_NANOS);
        paces(context).put(group, fresh);
        return new JoinProgressPrinter(context, fresh);
    }

    /**
     * Continues the lines of a join, or begins the lines of a join if this group has no lines yet. If the last line was
     * due more than 10 s ago, the next line follows after 3 s.
     *
     * @param group   name of the group
     * @param context context of the rank
     * @return lines of this join
     */
    public static JoinProgressPrinter resume(String group, RankContext context) {
        Objects.requireNonNull(context, "context");
        LineSchedule known = paces(context).get(Objects.requireNonNull(group, "group"));
        if (known == null) {
            return begin(group, context);
        }
        long now = context.nanoTime();
        if (now - known.next.get() >= LATER_LINES_NANOS) {
            // the waits stay counted, because an earlier part of this join may have been slow
            known.next.set(now + FIRST_LINE_NANOS);
        }
        return new JoinProgressPrinter(context, known);
    }

    private static Map<String, LineSchedule> paces(RankContext context) {
        // this use of the shared object is never released, since the object lives as long as the context and holds no
        // resources
        return context.shared(LineSchedules.class, LineSchedules::new).byGroup;
    }

    /** The time of the next line of a group, and the time that the group has waited. */
    private static final class LineSchedule {
        private final AtomicLong next;
        private final AtomicLong waitedNanos = new AtomicLong();

        LineSchedule(long firstNanos) {
            next = new AtomicLong(firstNanos);
        }
    }

    private static final class LineSchedules implements AutoCloseable {
        private final Map<String, LineSchedule> byGroup = new ConcurrentHashMap<>();

        @Override
        public void close() {
            // this object holds no resources
        }
    }

    /**
     * {@return for how long parts of this join have waited for other ranks in {@link #waiting}} A resumed join
     * continues to count, so a caller subtracts an earlier result from a later result.
     */
    public Duration waited() {
        return Duration.ofNanos(pace.waitedNanos.get());
    }

    /**
     * Logs lines to {@code ferro.join} until the returned object is closed. The time until the close is added to
     * {@link #waited}.
     *
     * @param text supplies what the rank waits for now, in one line; nothing is printed while this text is empty
     * @return lines, which the caller closes
     */
    public PhasePrinter waiting(Supplier<String> text) {
        return new PhasePrinter(text, JoinProgressPrinter::log, true).started();
    }

    /**
     * Passes lines to a consumer until the returned object is closed.
     *
     * @param text supplies the state of the join, in one line; nothing is printed while this text is empty
     * @param line receives the lines; null logs the lines to {@code ferro.join}
     * @return lines, which the caller closes
     */
    public PhasePrinter print(Supplier<String> text, Consumer<String> line) {
        return new PhasePrinter(text, line == null ? JoinProgressPrinter::log : line, false).started();
    }

    private static void log(String text) {
        PlainLoggers.write("ferro.join", Level.INFO, text);
    }

    /** The lines of one part of a join. */
    public final class PhasePrinter implements AutoCloseable {
        private final Supplier<String> text;
        private final Consumer<String> line;
        private final boolean waits;
        private final long begun = context.nanoTime();
        private ScheduledFuture<?> timer;
        private volatile boolean ended;

        private PhasePrinter(Supplier<String> text, Consumer<String> line, boolean waits) {
            this.text = Objects.requireNonNull(text, "text");
            this.line = line;
            this.waits = waits;
        }

        private PhasePrinter started() {
            long first = Math.max(1, pace.next.get() - begun);
            // a fixed delay, so that a machine without a free core does not print two lines at once
            timer = context.background()
                    .scheduleWithFixedDelay(
                            this::print,
                            TimeUnit.NANOSECONDS.toMillis(first),
                            TimeUnit.NANOSECONDS.toMillis(LATER_LINES_NANOS),
                            TimeUnit.MILLISECONDS);
            return this;
        }

        /**
         * Prints the current line. The supplier of the text may take a while, and the end of the join does not wait for
         * the text.
         */
        private void print() {
            String now = text.get();
            if (!ended && !now.isEmpty()) {
                pace.next.set(context.nanoTime() + LATER_LINES_NANOS);
                line.accept(now);
            }
        }

        /** Ends the lines of this part; idempotent. */
        @Override
        public void close() {
            if (!ended) {
                ended = true;
                timer.cancel(false);
                pace.waitedNanos.addAndGet(waits ? context.nanoTime() - begun : 0);
            }
        }
    }
}
