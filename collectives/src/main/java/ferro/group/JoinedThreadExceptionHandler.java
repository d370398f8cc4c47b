package ferro.group;

import ferro.CollectiveBackend;
import ferro.spi.PlainLoggers;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;

/**
 * The exception handler of a thread that joined. If an exception ends the thread while groups are open, the handler
 * aborts the groups with the exception. So the other ranks get the exception as the cause, and not only the loss of a
 * rank. After the abort, the thread ends as it would without this handler.
 *
 * <p>The handler is set only on the thread that joined. The JVM's default handler belongs to the program, and a wrapper
 * around {@code main} would appear in every stack trace. The handler stays while a group of the thread is open.
 * Thread-safe.
 */
final class JoinedThreadExceptionHandler implements Thread.UncaughtExceptionHandler {
    private static final System.Logger LOG = PlainLoggers.logger("ferro.group");

    private final Thread thread;
    private final Thread.UncaughtExceptionHandler before;
    /** Open groups in the order in which they were made, so that a joined group fails before the groups made of it. */
    private final List<CollectiveBackend> open = new ArrayList<>();

    private boolean left;

    private JoinedThreadExceptionHandler(Thread thread) {
        this.thread = thread;
        this.before = thread.getUncaughtExceptionHandler();
    }

    /** Adds a group to the handler of the calling thread, which has joined the group, and returns the handler. */
    static JoinedThreadExceptionHandler joined(CollectiveBackend group) {
        Thread thread = Thread.currentThread();
        if (thread.getUncaughtExceptionHandler() instanceof JoinedThreadExceptionHandler known && known.opened(group)) {
            return known;
        }
        JoinedThreadExceptionHandler made = new JoinedThreadExceptionHandler(thread);
        made.opened(group);
        thread.setUncaughtExceptionHandler(made);
        return made;
    }

    /**
     * Adds a group. Returns false if the thread has closed its last group, because the last close removed this handler.
     */
    synchronized boolean opened(CollectiveBackend group) {
        if (!left) {
            open.add(group);
        }
        return !left;
    }

    /**
     * Removes a group. After the last group, the thread gets its earlier handler back, unless the program has set a
     * newer handler.
     */
    synchronized void closed(CollectiveBackend group) {
        open.removeIf(one -> one == group);
        if (open.isEmpty() && !left && thread.getUncaughtExceptionHandler() == this) {
            left = true;
            // a thread without a handler returns its thread group
            thread.setUncaughtExceptionHandler(before instanceof ThreadGroup ? null : before);
        }
    }

    @Override
    public void uncaughtException(Thread ended, Throwable thrown) {
        try {
            groups().forEach(group -> abort(group, thrown));
        } finally {
            before.uncaughtException(ended, thrown);
        }
    }

    private synchronized List<CollectiveBackend> groups() {
        return List.copyOf(open);
    }

    /** Aborts a group. A group that has already failed keeps its first cause. */
    private static void abort(CollectiveBackend group, Throwable thrown) {
        try {
            if (group.failure().isEmpty()) {
                group.abort(thrown);
            }
        } catch (RuntimeException | Error failure) {
            LOG.log(
                    Level.WARNING,
                    "rank " + group.rank() + " could not abort its group after an exception ended its thread",
                    failure);
        }
    }
}
