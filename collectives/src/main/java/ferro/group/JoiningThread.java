package ferro.group;

import ferro.CollectiveBackend;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;

/**
 * The thread that joined. If an exception ends it while groups are open, the groups are aborted with the exception, so
 * that the other ranks learn what was thrown and not only that a rank is gone. After that the thread ends as it would
 * have without this handler.
 *
 * <p>It is a handler of that one thread. The JVM's default handler belongs to the program, and a wrapper around
 * {@code main} would appear in every stack trace. The handler stays as long as one of its groups is open. Thread-safe.
 */
final class JoiningThread implements Thread.UncaughtExceptionHandler {
    private static final System.Logger LOG = System.getLogger("ferro.group");

    private final Thread thread;
    private final Thread.UncaughtExceptionHandler before;
    /** Open groups in the order in which they were made, so that the joined group fails before those made of it. */
    private final List<CollectiveBackend> open = new ArrayList<>();

    private boolean left;

    private JoiningThread(Thread thread) {
        this.thread = thread;
        this.before = thread.getUncaughtExceptionHandler();
    }

    /** Returns the handler of the calling thread, with a group that the thread has joined. */
    static JoiningThread joined(CollectiveBackend group) {
        Thread thread = Thread.currentThread();
        if (thread.getUncaughtExceptionHandler() instanceof JoiningThread known && known.opened(group)) {
            return known;
        }
        JoiningThread made = new JoiningThread(thread);
        made.opened(group);
        thread.setUncaughtExceptionHandler(made);
        return made;
    }

    /** Adds a group. Returns false if the thread has closed its last group and so has lost this handler. */
    synchronized boolean opened(CollectiveBackend group) {
        if (!left) {
            open.add(group);
        }
        return !left;
    }

    /** Removes a group. With the last group the thread gets its earlier handler back, unless it has a newer one. */
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

    /**
     * Aborts a group. A group that has failed keeps its cause, because the exception of this thread is a consequence or
     * comes too late.
     */
    private static void abort(CollectiveBackend group, Throwable thrown) {
        try {
            if (group.failure().isEmpty()) {
                group.abort(thrown);
            }
        } catch (RuntimeException | Error failure) {
            LOG.log(Level.WARNING, "rank " + group.rank() + " could not tell the others what ended it", failure);
        }
    }
}
