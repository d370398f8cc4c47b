package ferro.group;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.spi.Deadlines;
import ferro.spi.ExitTask;
import ferro.spi.ExitTask.JvmExit;
import ferro.spi.ExitTask.Stage;
import ferro.spi.GroupSpec;
import ferro.spi.PlainLoggers;
import ferro.spi.RankContext;
import ferro.spi.ServedStore;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The life of one context: joins in progress, open groups, the served store, and tasks at the exit of the JVM. The end
 * of a context interrupts the joins, closes the groups, and then closes the store. Serving the store before a join
 * counts as a join. Thread-safe.
 *
 * <p>The exit tasks share one shutdown hook, because the JVM runs hooks in no order. The hook is registered only while
 * tasks are registered.
 */
final class ContextLifecycle implements AutoCloseable {
    private static final System.Logger LOG = PlainLoggers.logger("ferro.group");
    private static final Duration JOINS_END = Duration.ofSeconds(5);
    private static final Duration EXIT_BOUND = Duration.ofSeconds(5);
    /** Name of the thread on which the JDK handles a signal. The thread stays until the hooks are done. */
    private static final String SIGNAL_THREAD = "(SIG[A-Z0-9]+) handler";

    private final RankContext context;

    /** Open groups in the order in which they were made, so that a joined group fails before the groups made of it. */
    private final List<GroupCore> open = new ArrayList<>();

    private final List<PendingAction> joins = new ArrayList<>();
    /** Held while a thread serves the store. A close does not wait for the serving thread. */
    private final Object serving = new Object();

    private ServedStore store;
    private Throwable cause;
    /** Reason why no group can be joined any more; null while groups can be joined. */
    private String ended;

    private boolean closed;
    /** Runs once, after the last open group has closed; null if the context does not end with its groups. */
    private Runnable last;

    private final List<OrderedTask> exitTasks = new ArrayList<>();
    private Thread hook;

    private record OrderedTask(Stage stage, ExitTask task) {}

    ContextLifecycle(RankContext context) {
        this.context = context;
    }

    /** A step that is done for a group. The step has a verb in two forms, such as {@code join} and {@code joining}. */
    private record GroupAction(String verb, String doing, GroupSpec group) {
        String text(String how) {
            return how + " \"" + group.name() + "\" as rank " + group.rank();
        }
    }

    /** A join or another step in progress, and the thread that runs the step. */
    private static final class PendingAction {
        private final GroupAction step;
        private final Thread thread = Thread.currentThread();
        private boolean interrupted;

        PendingAction(GroupAction step) {
            this.step = step;
        }
    }

    /** Returns the life of a context. The object is never released, so it exists until the context ends. */
    static ContextLifecycle of(RankContext context) {
        return context.shared(ContextLifecycle.class, () -> new ContextLifecycle(context));
    }

    /**
     * Runs a join. {@link #abort} and {@link #close} interrupt the join.
     *
     * @param group group to join
     * @param join  joins the group; if the join fails, {@code join} closes everything that it has opened
     * @throws IllegalStateException if the context is closed
     * @throws FerroException ABORTED if the context has been aborted or ends during this call
     */
    GroupCore joined(GroupSpec group, Supplier<GroupCore> join) {
        PendingAction own = begin(new GroupAction("join", "joining", group));
        GroupCore made = run(own, join);
        if (isCut(own, made)) {
            throw dropped(made, cancelled(own.step, null));
        }
        return made;
    }

    /**
     * Serves the store before a join. {@link #abort} and {@link #close} interrupt this call.
     *
     * @param group group whose ranks use the store
     * @return address of the store. The first call begins to serve the store, which stays open if the call is
     *     interrupted
     * @throws IllegalStateException if the context is closed
     * @throws FerroException ABORTED if the context has been aborted or ends during this call
     */
    String served(GroupSpec group) {
        PendingAction own = begin(new GroupAction("serve the store of", "serving the store of", group));
        String endpoint = run(own, () -> endpoint(group));
        if (isCut(own, null)) {
            throw cancelled(own.step, null);
        }
        return endpoint;
    }

    private String endpoint(GroupSpec group) {
        synchronized (serving) {
            ServedStore known = store();
            return (known == null ? serve(group) : known).endpoint();
        }
    }

    private ServedStore serve(GroupSpec group) {
        ServedStore made =
                JoiningContext.ask(group, context, (provider, address) -> provider.serve(address, group, context));
        synchronized (this) {
            if (!closed) {
                store = made;
                return made;
            }
        }
        made.close();
        return made;
    }

    private synchronized ServedStore store() {
        return store;
    }

    private <T> T run(PendingAction own, Supplier<T> step) {
        try {
            return step.get();
        } catch (RuntimeException | Error failure) {
            if (isCut(own, null)) {
                throw cancelled(own.step, failure);
            }
            throw failure;
        }
    }

    /** Adds a group that was made of an open group of this context. */
    void opened(GroupCore child) {
        synchronized (this) {
            if (ended == null) {
                open.add(child);
                return;
            }
        }
        throw dropped(
                child,
                new FerroException(
                        Code.ABORTED,
                        Where.of("", child.backend().rank()),
                        "newGroup ended too late: its context was " + ended));
    }

    /**
     * Sets a task that runs after the last open group has closed. The caller calls this method before it joins a group.
     */
    synchronized void whenLastCloses(Runnable then) {
        last = then;
    }

    /** Removes a group that is closed. */
    void closed(GroupCore end) {
        Runnable then;
        synchronized (this) {
            boolean wasOpen = open.removeIf(one -> one == end);
            then = wasOpen && open.isEmpty() && ended == null ? last : null;
        }
        if (then != null) {
            then.run();
        }
    }

    /** Interrupts the joins and aborts the open groups. */
    void abort(Throwable why) {
        if (end(why, "aborted" + (why == null ? "" : ": " + why))) {
            groups().forEach(group -> abort(group, why));
        }
    }

    /** Aborts a group. If the back end fails to abort, the failure does not prevent the abort of other groups. */
    private static void abort(GroupCore group, Throwable why) {
        try {
            group.backend().abort(why);
        } catch (RuntimeException | Error failure) {
            LOG.log(Level.WARNING, "rank " + group.backend().rank() + " cannot abort a group of its context", failure);
        }
    }

    /** Returns why no group can be joined any more. */
    synchronized Optional<String> ended() {
        return Optional.ofNullable(ended);
    }

    /** Interrupts the joins and waits for their ends. Then closes the groups, newest first, and the store. */
    @Override
    public void close() {
        end(null, "closed");
        synchronized (this) {
            closed = true;
        }
        awaitJoins();
        List<GroupCore> newestFirst = new ArrayList<>(groups());
        Collections.reverse(newestFirst);
        try {
            newestFirst.forEach(ContextLifecycle::leave);
        } finally {
            closeStore();
        }
    }

    private void closeStore() {
        ServedStore last;
        synchronized (this) {
            last = store;
            store = null;
        }
        if (last != null) {
            last.close();
        }
    }

    /**
     * Closes a group that was left open. A failure of the close is only logged, so that the failure does not hide why
     * the context ended.
     */
    private static void leave(GroupCore group) {
        try {
            group.close(Duration.ZERO);
        } catch (RuntimeException | Error failure) {
            LOG.log(
                    Level.WARNING,
                    "rank " + group.backend().rank()
                            + " closed its context while a group was open, and closing the group failed",
                    failure);
        }
    }

    private synchronized PendingAction begin(GroupAction step) {
        if (closed) {
            throw new IllegalStateException(
                    "cannot " + step.text(step.verb) + ": its context is closed; make another context");
        }
        if (ended != null) {
            throw cancelled(step, null);
        }
        PendingAction own = new PendingAction(step);
        joins.add(own);
        return own;
    }

    /** Ends a join, and returns whether it was interrupted. The group of an uninterrupted join is open from now on. */
    private synchronized boolean isCut(PendingAction own, GroupCore made) {
        joins.removeIf(one -> one == own);
        notifyAll();
        if (own.interrupted) {
            // this object has set the flag to end the join, and the flag means nothing to the caller
            Thread.interrupted();
        }
        if (ended == null && made != null) {
            open.add(made);
        }
        return ended != null;
    }

    /** Ends this object permanently. Returns false if this object had already ended. */
    private synchronized boolean end(Throwable why, String text) {
        if (ended != null) {
            return false;
        }
        cause = why;
        ended = text;
        for (PendingAction join : joins) {
            join.interrupted = true;
            join.thread.interrupt();
        }
        return true;
    }

    private synchronized List<GroupCore> groups() {
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

    private synchronized FerroException cancelled(GroupAction step, Throwable failure) {
        FerroException cancelled = new FerroException(
                Code.ABORTED,
                Where.of(step.group.name(), step.group.rank()),
                step.text(step.doing) + " was cancelled: its context was " + ended,
                cause == null ? failure : cause);
        if (cause != null && failure != null) {
            cancelled.addSuppressed(failure);
        }
        return cancelled;
    }

    /** Closes what a failure has left open, and keeps the failure. */
    static void closeAfter(Throwable failure, AutoCloseable opened) {
        try {
            opened.close();
        } catch (Exception | Error second) {
            failure.addSuppressed(second);
        }
    }

    private static FerroException dropped(GroupCore late, FerroException failure) {
        late.backend().abort(failure);
        closeAfter(failure, () -> late.close(Duration.ZERO));
        return failure;
    }

    /** Adds a task for the exit of the JVM. */
    synchronized ExitTask.Handle atExit(Stage stage, ExitTask task) {
        OrderedTask entry = new OrderedTask(stage, task);
        exitTasks.add(entry);
        if (hook == null) {
            hook = new Thread(this::exit, "ferro-exit");
            try {
                Runtime.getRuntime().addShutdownHook(hook);
            } catch (IllegalStateException ending) {
                LOG.log(Level.DEBUG, "the JVM is already exiting, so its exit tasks do not run", ending);
            }
        }
        return () -> remove(entry);
    }

    private synchronized void remove(OrderedTask entry) {
        // two tasks may be equal, and each is removed once
        exitTasks.removeIf(known -> known == entry);
        if (exitTasks.isEmpty() && hook != null) {
            try {
                Runtime.getRuntime().removeShutdownHook(hook);
            } catch (IllegalStateException ending) {
                LOG.log(Level.DEBUG, "the JVM is already exiting, so its shutdown hook stays registered", ending);
            }
            hook = null;
        }
    }

    /** A holder of the signal, which is initialised by the first hook that runs. */
    private static final class ExitSignalHolder {
        /**
         * The signal that ends this JVM; empty if no signal ends this JVM. The search for the signal runs once for all
         * contexts, because the search stops every thread. A search per context would make the exit of 1,000 simulated
         * ranks take a minute.
         */
        private static final String SIGNAL = signal();

        private ExitSignalHolder() {}
    }

    private void exit() {
        String signal = ExitSignalHolder.SIGNAL;
        // a signal also ends a job in a debugger
        Duration bound = signal.isEmpty() ? Deadlines.inForce(EXIT_BOUND, context) : EXIT_BOUND;
        JvmExit exit = new JvmExit(signal, context.nanoTime() + Deadlines.nanos(bound));
        List<OrderedTask> now;
        synchronized (this) {
            now = new ArrayList<>(exitTasks);
        }
        now.sort(Comparator.comparing(OrderedTask::stage));
        for (OrderedTask entry : now) {
            try {
                entry.task.run(exit);
            } catch (RuntimeException | Error broken) {
                LOG.log(Level.WARNING, "a task at the exit of the JVM failed", broken);
            }
        }
    }

    private static String signal() {
        Pattern handler = Pattern.compile(SIGNAL_THREAD);
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            Matcher matched = handler.matcher(thread.getName());
            if (matched.matches()) {
                return matched.group(1);
            }
        }
        return "";
    }
}
