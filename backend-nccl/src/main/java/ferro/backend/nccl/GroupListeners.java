package ferro.backend.nccl;

import ferro.GroupEvent;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/** Who wants to hear of a group: told in order, one event at a time, on a thread that drives nothing. */
final class GroupListeners {
    private static final Logger LOG = System.getLogger("ferro.backend.nccl");

    private final Executor thread;
    private final List<Consumer<GroupEvent>> listeners = new ArrayList<>();
    private final ArrayDeque<Runnable> waiting = new ArrayDeque<>();
    private boolean telling;
    private GroupEvent last;

    GroupListeners(Executor thread) {
        this.thread = thread;
    }

    /** Adds a listener; one that comes after the failure hears of it. */
    void add(Consumer<GroupEvent> listener) {
        synchronized (this) {
            listeners.add(listener);
            if (last == null) {
                return;
            }
            GroupEvent failed = last;
            waiting.add(() -> tell(listener, failed));
        }
        begin();
    }

    /** Tells all listeners; nothing after the failure. */
    void tell(GroupEvent event) {
        synchronized (this) {
            if (last != null) {
                return;
            }
            if (event.kind() == GroupEvent.Kind.FAILED) {
                last = event;
            }
            for (Consumer<GroupEvent> listener : listeners) {
                waiting.add(() -> tell(listener, event));
            }
        }
        begin();
    }

    private void begin() {
        synchronized (this) {
            if (telling || waiting.isEmpty()) {
                return;
            }
            telling = true;
        }
        thread.execute(this::tellAll);
    }

    private void tellAll() {
        for (Runnable next = next(); next != null; next = next()) {
            next.run();
        }
    }

    private synchronized Runnable next() {
        Runnable next = waiting.poll();
        telling = next != null;
        return next;
    }

    private static void tell(Consumer<GroupEvent> listener, GroupEvent event) {
        try {
            listener.accept(event);
        } catch (RuntimeException | Error thrown) {
            LOG.log(Level.WARNING, "a listener of group \"" + event.group() + "\" failed on " + event, thrown);
        }
    }
}
