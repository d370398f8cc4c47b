package ferro.spi;

import ferro.GroupEvent;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * The listeners for the events of a group. Each listener receives the events in order, one at a time. A listener that
 * blocks does not delay other listeners. The failure is the last event. Thread-safe.
 */
public final class Listeners {
    private static final System.Logger LOG = PlainLoggers.logger("ferro.group");

    private final String group;
    private final Executor executor;
    private final boolean logs;
    private final QueuedListener log = new QueuedListener(Listeners::write);
    private final List<QueuedListener> ears = new ArrayList<>();
    private GroupEvent failed;

    /**
     * Creates an empty list of listeners.
     *
     * @param group    name of the group, for messages
     * @param executor runs each task on a thread that may block and that does not make progress on links
     * @param logs     whether late operations and silent ranks are also logged
     */
    public Listeners(String group, Executor executor, boolean logs) {
        this.group = Objects.requireNonNull(group, "group");
        this.executor = Objects.requireNonNull(executor, "executor");
        this.logs = logs;
    }

    /**
     * Adds a listener. A listener that is added after the failure still receives the failure.
     *
     * @param listener receives the events
     */
    public synchronized void add(Consumer<GroupEvent> listener) {
        QueuedListener ear = new QueuedListener(Objects.requireNonNull(listener, "listener"));
        ears.add(ear);
        if (failed != null) {
            ear.tell(failed);
        }
    }

    /**
     * Sends an event to all listeners. After the failure of the group, no further event is sent.
     *
     * @param event event to send
     */
    public synchronized void tell(GroupEvent event) {
        Objects.requireNonNull(event, "event");
        if (failed != null) {
            return;
        }
        if (event.kind() == GroupEvent.Kind.FAILED) {
            failed = event;
        }
        if (logs && event.kind() == GroupEvent.Kind.LATE) {
            log.tell(event);
        }
        for (QueuedListener ear : ears) {
            ear.tell(event);
        }
    }

    /**
     * Logs an event without notifying the listeners. Logs the recovery of a rank as INFO, and any other event as
     * WARNING. Does nothing if this object does not log, or after the failure of the group.
     *
     * @param event event whose text is logged
     */
    public synchronized void log(GroupEvent event) {
        Objects.requireNonNull(event, "event");
        if (logs && failed == null) {
            log.tell(event);
        }
    }

    private static void write(GroupEvent event) {
        PlainLoggers.write(
                "ferro.group", event.kind() == GroupEvent.Kind.RECOVERED ? Level.INFO : Level.WARNING, event.text());
    }

    /**
     * A listener and its pending events. The monitor of the outer object guards the listener and its events, and is not
     * held while the listener runs.
     */
    private final class QueuedListener {
        private final Consumer<GroupEvent> listener;
        private final Deque<GroupEvent> events = new ArrayDeque<>();
        private boolean running;

        QueuedListener(Consumer<GroupEvent> listener) {
            this.listener = listener;
        }

        void tell(GroupEvent event) {
            events.add(event);
            if (running) {
                return;
            }
            try {
                running = true;
                executor.execute(this::run);
            } catch (RuntimeException | Error refused) {
                // the caller must continue; the next event starts the delivery again, and this event is delivered
                // before the next one
                running = false;
                LOG.log(Level.WARNING, "a listener of group \"" + group + "\" cannot be notified yet", refused);
            }
        }

        private void run() {
            for (GroupEvent event = next(); event != null; event = next()) {
                try {
                    listener.accept(event);
                } catch (RuntimeException | Error failure) {
                    LOG.log(Level.WARNING, "a listener of group \"" + group + "\" failed on " + event, failure);
                }
            }
        }

        private GroupEvent next() {
            synchronized (Listeners.this) {
                GroupEvent event = events.poll();
                running = event != null;
                return event;
            }
        }
    }
}
