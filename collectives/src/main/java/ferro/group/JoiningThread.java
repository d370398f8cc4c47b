package ferro.group;

import ferro.CollectiveBackend;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;

/**
 * The thread that joined: where an exception ends it while groups are open, these are aborted with it, so that the other ranks
 * hear what was thrown and not only that a rank is gone. Then the thread's end goes on as it would have.
 *
 * <p>A handler of that one thread and not the JVM's default one, which is the program's, and no wrapper around {@code main},
 * which would stand in every trace. It stays as long as one of its groups is open. Thread-safe.
 */
final class JoiningThread implements Thread.UncaughtExceptionHandler {
    private static final System.Logger LOG = System.getLogger("ferro.group");

    private final Thread thread;
    private final Thread.UncaughtExceptionHandler before;
    /** In the order in which they were made: the joined group fails before those made of it. */
    private final List<CollectiveBackend> open = new ArrayList<>();

    private boolean left;

    private JoiningThread(Thread thread) {
        this.thread = thread;
        this.before = thread.getUncaughtExceptionHandler();
    }

    /** Returns the calling thread with a group that it has joined. */
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

    /** Takes up a group; false if this thread is rid of its last one, and of its handler. */
    synchronized boolean opened(CollectiveBackend group) {
        if (!left) {
            open.add(group);
        }
        return !left;
    }

    /** Forgets a group; with the last one the thread gets back the handler that it had, unless it has a newer one. */
    synchronized void closed(CollectiveBackend group) {
        open.removeIf(one -> one == group);
        if (open.isEmpty() && !left && thread.getUncaughtExceptionHandler() == this) {
            left = true;
            // a thread without a handler answers with its group
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

    /** A group that has failed keeps its cause: what ends this thread is a consequence, or comes too late. */
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
