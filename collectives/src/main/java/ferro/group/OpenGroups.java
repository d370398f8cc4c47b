package ferro.group;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The joins under way and the open groups of one context. When the context ends, it interrupts these joins and closes
 * these groups. Thread-safe.
 */
final class OpenGroups implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("ferro.group");
    private static final Duration JOINS_END = Duration.ofSeconds(5);

    /** Open groups in the order in which they were made, so that the joined group fails before those made of it. */
    private final List<GroupEnd> open = new ArrayList<>();

    private final List<JoinUnderWay> joins = new ArrayList<>();
    private Throwable cause;
    /** Why nothing can be joined any more; null while groups can be joined. */
    private String ended;

    private boolean closed;

    /** One join, and the thread that runs it. */
    private static final class JoinUnderWay {
        private final Thread thread = Thread.currentThread();
        private boolean interrupted;
    }

    /** Returns the groups of a context; the use is never released, and ends with the context. */
    static OpenGroups of(RankContext context) {
        return context.shared(OpenGroups.class, OpenGroups::new);
    }

    /**
     * Runs a join, which {@link #abort} and {@link #close} interrupt.
     *
     * @param group group to join
     * @param join  joins; if it fails, it closes what it has opened
     * @throws IllegalStateException if the context is closed
     * @throws FerroException        ABORTED if the context has been aborted, or ends meanwhile
     */
    GroupEnd joined(GroupSpec group, Supplier<GroupEnd> join) {
        JoinUnderWay own = begin(group);
        GroupEnd made;
        try {
            made = join.get();
        } catch (RuntimeException | Error failure) {
            if (isCut(own, null)) {
                throw cancelled(group, failure);
            }
            throw failure;
        }
        if (isCut(own, made)) {
            throw dropped(made, cancelled(group, null));
        }
        return made;
    }

    /** Adds a group that was made of an open one. */
    void opened(GroupEnd child) {
        synchronized (this) {
            if (ended == null) {
                open.add(child);
                return;
            }
        }
        throw dropped(
                child,
                new FerroException(
                        Code.ABORTED, Where.outside("", child.backend().rank()), "newGroup came too late: " + ended));
    }

    /** Removes a group that is closed. */
    synchronized void closed(GroupEnd end) {
        open.removeIf(one -> one == end);
    }

    /** Interrupts the joins and aborts the groups. */
    void abort(Throwable why) {
        if (end(why, "aborted" + (why == null ? "" : ": " + why))) {
            groups().forEach(group -> abort(group, why));
        }
    }

    /** Aborts a group. A back end that cannot must not keep the others from it. */
    private static void abort(GroupEnd group, Throwable why) {
        try {
            group.backend().abort(why);
        } catch (RuntimeException | Error failure) {
            LOG.log(Level.WARNING, "rank " + group.backend().rank() + " cannot abort a group of its context", failure);
        }
    }

    /** Returns why nothing can be joined any more. */
    synchronized Optional<String> ended() {
        return Optional.ofNullable(ended);
    }

    /** Interrupts the joins, waits for their ends, and closes the groups, newest first. */
    @Override
    public void close() {
        end(null, "closed");
        synchronized (this) {
            closed = true;
        }
        awaitJoins();
        List<GroupEnd> newestFirst = new ArrayList<>(groups());
        Collections.reverse(newestFirst);
        newestFirst.forEach(OpenGroups::leave);
    }

    /** Closes a group that was left open. Its failure must not hide what ended the context. */
    private static void leave(GroupEnd group) {
        try {
            group.close(Duration.ZERO);
        } catch (RuntimeException | Error failure) {
            LOG.log(
                    Level.WARNING,
                    "rank " + group.backend().rank()
                            + " closed its context with an open group, which reports a failure",
                    failure);
        }
    }

    private synchronized JoinUnderWay begin(GroupSpec group) {
        if (closed) {
            throw new IllegalStateException(
                    "cannot join " + title(group) + ": its context is closed; make another context");
        }
        if (ended != null) {
            throw cancelled(group, null);
        }
        JoinUnderWay own = new JoinUnderWay();
        joins.add(own);
        return own;
    }

    /** Ends a join; returns whether it was cut short. Else the group that it has made, if any, is open from now on. */
    private synchronized boolean isCut(JoinUnderWay own, GroupEnd made) {
        joins.removeIf(one -> one == own);
        notifyAll();
        if (own.interrupted) {
            // the flag was this object's way to end the join, and means nothing to the caller
            Thread.interrupted();
        }
        if (ended == null && made != null) {
            open.add(made);
        }
        return ended != null;
    }

    /** Ends this for good; returns false if it has ended before. */
    private synchronized boolean end(Throwable why, String text) {
        if (ended != null) {
            return false;
        }
        cause = why;
        ended = text;
        for (JoinUnderWay join : joins) {
            join.interrupted = true;
            join.thread.interrupt();
        }
        return true;
    }

    private synchronized List<GroupEnd> groups() {
        return List.copyOf(open);
    }

    private synchronized void awaitJoins() {
        long deadline = System.nanoTime() + JOINS_END.toNanos();
        try {
            while (joins.stream().anyMatch(join -> join.thread != Thread.currentThread())) {
                long left = deadline - System.nanoTime();
                if (left <= 0) {
                    return;
                }
                TimeUnit.NANOSECONDS.timedWait(this, left);
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized FerroException cancelled(GroupSpec group, Throwable failure) {
        FerroException cancelled = new FerroException(
                Code.ABORTED,
                Where.outside(group.name(), group.rank()),
                "joining " + title(group) + " was cancelled: its context was " + ended,
                cause == null ? failure : cause);
        if (cause != null && failure != null) {
            cancelled.addSuppressed(failure);
        }
        return cancelled;
    }

    private static FerroException dropped(GroupEnd late, FerroException failure) {
        late.backend().abort(failure);
        try {
            late.close(Duration.ZERO);
        } catch (RuntimeException | Error second) {
            failure.addSuppressed(second);
        }
        return failure;
    }

    private static String title(GroupSpec group) {
        return "\"" + group.name() + "\" as rank " + group.rank();
    }
}
