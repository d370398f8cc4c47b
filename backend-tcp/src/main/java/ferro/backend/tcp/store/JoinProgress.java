package ferro.backend.tcp.store;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.Store;
import ferro.backend.tcp.net.ConnectAttempts;
import ferro.spi.Deadlines;
import ferro.spi.GroupSpec;
import ferro.spi.JoinProgressPrinter;
import ferro.spi.RankContext;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * The state and the deadline of one join of a rank, from the opening of its store to the last connection. While the
 * rank waits, the text of the state is printed after 3 s, and then every 10 s. The states show how much of the join is
 * work of the rank itself, and how much is waiting for other processes. Thread-safe.
 */
public final class JoinProgress implements TcpStore.StorePurpose {
    private final GroupSpec group;
    private final RankContext context;
    private final JoinProgressPrinter lines;
    private final ProcessCpuTime time = new ProcessCpuTime(this::millis);
    /** How long the join had already waited when this object was created. */
    private final long waitedBefore;

    private final long start;
    private final long deadline;
    /** The current state of the join. {@code entered} is the time at which the join has entered this state. */
    private JoinState state;

    private long entered;
    /** Time in which this rank itself was working, in the earlier states of the join. */
    private long ownNanos;
    /** Whether {@link #of} has already returned this object. */
    private final AtomicBoolean returned = new AtomicBoolean();
    /** A failure at the deadline that this rank or its host has caused; null if no such failure exists. */
    private volatile FerroException ownFailure;

    private JoinProgress(GroupSpec group, RankContext context, JoinProgressPrinter lines) {
        this.group = group;
        this.context = context;
        this.lines = lines;
        waitedBefore = lines.waited().toNanos();
        start = context.nanoTime();
        deadline = start + Deadlines.nanos(Deadlines.ofJoin(group, context));
        entered = start;
        state = starting();
    }

    static JoinProgress begin(GroupSpec group, RankContext context) {
        return new JoinProgress(group, context, JoinProgressPrinter.begin(group.name(), context));
    }

    /** Begins a join over a store that is already open. Lines about this join may already have been printed. */
    public static JoinProgress resume(GroupSpec group, RankContext context) {
        return new JoinProgress(group, context, JoinProgressPrinter.resume(group.name(), context));
    }

    /**
     * Returns the join that has opened a store for a group. Empty if no join has opened the store, or if an earlier
     * call has returned the join.
     */
    public static Optional<JoinProgress> of(Store store, GroupSpec group) {
        return store instanceof TcpStore tcp
                        && tcp.opener() instanceof JoinProgress opener
                        && opener.group.name().equals(group.name())
                        && !opener.returned.getAndSet(true)
                ? Optional.of(opener)
                : Optional.empty();
    }

    /** Logs the lines about this join until the result is closed. */
    public JoinProgressPrinter.PhasePrinter lines() {
        return lines(null);
    }

    /**
     * Calls {@code line} with the lines about this join until the result is closed. If {@code line} is null, logs the
     * lines.
     */
    JoinProgressPrinter.PhasePrinter lines(Consumer<String> line) {
        return lines.print(() -> state().text(), line);
    }

    /** Enters a state of the join. */
    public synchronized void enter(JoinState next) {
        long now = context.nanoTime();
        ownNanos += state.ownNanos(now - entered);
        entered = now;
        state = next;
    }

    private synchronized JoinState state() {
        return state;
    }

    /** Returns how many milliseconds of this join this rank itself was working, and not waiting for other processes. */
    synchronized long ownMillis() {
        long own = ownNanos
                + state.ownNanos(context.nanoTime() - entered)
                - (lines.waited().toNanos() - waitedBefore);
        return TimeUnit.NANOSECONDS.toMillis(Math.max(0, own));
    }

    /**
     * Returns whether this rank itself was working for more than half of the join. Such a rank blames no other rank.
     */
    public boolean isSlowItself() {
        return 2 * ownMillis() > millis();
    }

    /** Enters the state in which this rank itself is working. */
    public void work() {
        enter(starting());
    }

    /**
     * Enters the state in which this rank waits for an answer of the store. {@code localStore} is true if this rank
     * serves the store.
     */
    public void askStore(boolean localStore) {
        enter(new JoinState.StoreAnswerWait(rank(), time, localStore));
    }

    JoinState.StartupWork starting() {
        return new JoinState.StartupWork(rank(), time);
    }

    ProcessCpuTime time() {
        return time;
    }

    /** Returns the name of this rank for messages, such as {@code rank 0 of "world"}. */
    String rank() {
        return "rank " + group.rank() + " of \"" + group.name() + "\"";
    }

    /** Returns the deadline of this join, on the clock of the context. */
    @Override
    public long deadlineNanos() {
        return deadline;
    }

    /** Returns how long this join has taken so far, in milliseconds. */
    public long millis() {
        return TimeUnit.NANOSECONDS.toMillis(context.nanoTime() - start);
    }

    /** Returns the beginning of a message about the failure of this join. */
    public String failed() {
        return "joining \"" + group.name() + "\" as rank " + group.rank() + " failed";
    }

    /**
     * Returns a text about how the time before the last part of this join was used. Needed for messages that give only
     * the time of the last part of the join.
     *
     * @param partMillis length of the last part in milliseconds
     * @return text to append to the message; empty if the last part is at least half of the join
     */
    public String before(long partMillis) {
        long all = millis();
        if (2 * partMillis >= all) {
            return "";
        }
        long earlier = all - partMillis;
        long own = Math.min(earlier, ownMillis());
        return "; of the " + earlier + " ms before, " + own + " ms went into the start of this rank"
                + (2 * own > earlier ? ": " + time.text() : " and the rest into waits for others");
    }

    /**
     * Returns the failure of a request to the connected store. If the store has not answered by the deadline of the
     * join, the failure says that this rank was slow, or asks whether the store's process is stopped.
     *
     * @param failure failure of the request
     */
    public FerroException ofStore(FerroException failure) {
        boolean late = TcpStore.isUnanswered(failure) && context.nanoTime() - deadline >= 0;
        if (!late) {
            return failure;
        }
        if (isSlowItself()) {
            return ofThisRank(tooSlow("the rank was connected to the store too late for its answer"), failure);
        }
        String text = failed() + " after " + millis() + " ms: the store is connected and has not answered ("
                + failure.getMessage() + "): is the process that serves it stopped or without a free core? "
                + time.text() + " (ferro.join.timeout sets the time)";
        return new FerroException(Code.RENDEZVOUS, failure.where(), text, failure);
    }

    /**
     * Returns the text of a failure at the deadline for which this rank itself is the cause, because it was slow.
     *
     * @param what what this rank had not done yet
     */
    public String tooSlow(String what) {
        return failed() + " after " + millis() + " ms: " + what + "; " + time.text()
                + ": give the rank a free core, or joining more time (ferro.join.timeout sets the time)";
    }

    /** Returns the text of a failure at the deadline if ranks are missing and this rank itself was slow. */
    public String tooSlowFor(List<Integer> missing) {
        long own = ownMillis();
        return tooSlow("the rank needed " + own + " ms to start and waited only " + (millis() - own) + " ms for ranks "
                + missing + " of " + group.worldSize());
    }

    /**
     * Returns the text of the failure if this rank serves the store and could not connect to it by the deadline.
     *
     * @param store name of the store
     * @param notes attempts to connect to the store
     */
    String unserved(String store, ConnectAttempts notes) {
        return notes.hasEnded()
                ? failed() + " after " + millis() + " ms: the rank cannot connect to " + store + ", which it serves: "
                        + notes.last() + " (attempts: " + notes.attempts() + "); " + time.text()
                        + " (ferro.join.timeout sets the time)"
                : tooSlow("the rank has not started " + store + ", which it serves");
    }

    /**
     * Returns a failure at the deadline for which this rank or its host is the cause. The failure blames no other rank.
     */
    FerroException ofThisRank(String text, FerroException cause) {
        ownFailure = new FerroException(Code.RENDEZVOUS, Where.of(group.name(), group.rank()), text, cause);
        return ownFailure;
    }

    /** Returns whether {@link #ofThisRank} has returned this failure. */
    boolean isOfThisRank(FerroException failure) {
        return failure == ownFailure;
    }
}
