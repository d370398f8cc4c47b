package ferro.backend.tcp.rendezvous;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.spi.Deadlines;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.lang.System.Logger.Level;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The state and the deadline of one join of a rank, from the opening of its store to the last connection. While the rank waits,
 * the text of the state is printed after 3 s, and then every 10 s. Any thread may call it.
 */
public final class JoinProgress {
    private static final long FIRST_LINE_NANOS = TimeUnit.SECONDS.toNanos(3);
    private static final long LATER_LINES_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final GroupSpec group;
    private final RankContext context;
    /** Takes the lines; null if they are logged. */
    private final Consumer<String> line;

    private final long start;
    private final long deadline;
    private volatile JoinState state;
    /** Earliest time of the next line. */
    private volatile long nextLine;

    private JoinProgress(GroupSpec group, RankContext context, Consumer<String> line) {
        this.group = group;
        this.context = context;
        this.line = line;
        start = context.nanoTime();
        deadline = start + Deadlines.nanos(Deadlines.ofJoin(group, context));
        nextLine = start + FIRST_LINE_NANOS;
        state = starting();
    }

    /** Begins a join now, whose lines are logged. */
    public static JoinProgress begin(GroupSpec group, RankContext context) {
        return new JoinProgress(group, context, null);
    }

    /** Begins a join now, whose lines another object takes. */
    static JoinProgress begin(GroupSpec group, RankContext context, Consumer<String> line) {
        return new JoinProgress(group, context, line);
    }

    /** Prints lines until the result is closed. */
    public Lines lines() {
        long first = Math.max(1, nextLine - context.nanoTime());
        Lines made = new Lines();
        // a fixed delay, so that a machine without a free core prints no two lines at once
        made.timer = context.background()
                .scheduleWithFixedDelay(
                        made,
                        TimeUnit.NANOSECONDS.toMillis(first),
                        TimeUnit.NANOSECONDS.toMillis(LATER_LINES_NANOS),
                        TimeUnit.MILLISECONDS);
        return made;
    }

    /** The lines of a part of a join. */
    public final class Lines implements Runnable {
        private ScheduledFuture<?> timer;
        private volatile boolean ended;

        private Lines() {}

        /** Prints the line of the state. The text may take a while, and the end of the join does not wait for it. */
        @Override
        public void run() {
            String text = state.text();
            if (!ended && !text.isEmpty()) {
                nextLine = context.nanoTime() + LATER_LINES_NANOS;
                print(text);
            }
        }

        /** Ends the lines; idempotent. */
        public void close() {
            ended = true;
            timer.cancel(false);
        }
    }

    private void print(String text) {
        if (line == null) {
            System.getLogger("ferro.join").log(Level.INFO, text);
        } else {
            line.accept(text);
        }
    }

    /** Enters a state. */
    public void enter(JoinState next) {
        state = next;
    }

    /** Enters the state in which this rank loads classes and opens its port. */
    JoinState.Starting starting() {
        return new JoinState.Starting(rank());
    }

    /** Returns the state that was entered last. */
    JoinState state() {
        return state;
    }

    /** Returns the name of this rank for messages, such as {@code rank 0 of "world"}. */
    public String rank() {
        return "rank " + group.rank() + " of \"" + group.name() + "\"";
    }

    /** Returns the end of this join, on the clock of the context. */
    public long deadlineNanos() {
        return deadline;
    }

    /** Returns for how long this rank has been joining, in milliseconds. */
    public long millis() {
        return TimeUnit.NANOSECONDS.toMillis(context.nanoTime() - start);
    }

    /** Returns the beginning of a message about the failure of this join. */
    public String failed() {
        return "joining \"" + group.name() + "\" as rank " + group.rank() + " failed";
    }

    /**
     * Returns where the first part of this join went, if a message is about a shorter last part of it.
     *
     * @param partMillis length of the last part
     * @return words that follow the message; empty if the last part is at least half of the join
     */
    public String before(long partMillis) {
        long all = millis();
        return 2 * partMillis >= all
                ? ""
                : "; the " + (all - partMillis) + " ms before went into the start of this rank: " + OwnTime.text();
    }

    /** Returns the failure of a request to the connected store, which says more if the store has not answered by the deadline. */
    public FerroException ofStore(FerroException failure) {
        boolean late = failure.code() == Code.RENDEZVOUS && context.nanoTime() - deadline >= 0;
        if (!late) {
            return failure;
        }
        String text = failed() + " after " + millis() + " ms: the store is connected and has not answered ("
                + failure.getMessage() + "): is the process that serves it stopped or without a free core? "
                + OwnTime.text() + " (ferro.join.timeout sets the time)";
        return new FerroException(Code.RENDEZVOUS, failure.where(), text, failure);
    }

    /**
     * Returns the text of a failure at the deadline that this rank has caused by being slow itself.
     *
     * @param what what this rank had not done yet
     */
    public String tooSlow(String what) {
        return failed() + " after " + millis() + " ms: " + what + "; " + OwnTime.text()
                + ": give the rank a free core, or joining more time (ferro.join.timeout sets the time)";
    }
}
