package ferro.backend.tcp;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What has come for each group: told to its listener, or kept for one that registers soon, within bounds. On the loop
 * only.
 */
final class Inboxes {
    static final int MOST_KEPT = 64;
    static final int MOST_UNKNOWN_GROUPS = 64;

    private final Map<Long, TcpMesh.Listener> listeners = new LinkedHashMap<>();
    /** In the order of their first event, so that the oldest goes first. */
    private final Map<Long, List<Event>> kept = new LinkedHashMap<>();

    /** Something that came for a group. */
    interface Event {
        /** Tells. */
        void tell(TcpMesh.Listener listener);

        /** Gives back what it holds where nobody will ever be told. */
        default void drop() {}
    }

    void deliver(long group, Event event) {
        TcpMesh.Listener listener = listeners.get(group);
        if (listener != null) {
            event.tell(listener);
            return;
        }
        if (!kept.containsKey(group) && kept.size() >= MOST_UNKNOWN_GROUPS) {
            long oldest = kept.keySet().iterator().next();
            kept.remove(oldest).forEach(Event::drop);
        }
        List<Event> waiting = kept.computeIfAbsent(group, none -> new ArrayList<>());
        if (waiting.size() >= MOST_KEPT) {
            event.drop();
        } else {
            waiting.add(event);
        }
    }

    /** Names the listener and tells it what was kept. */
    void register(long group, TcpMesh.Listener listener) {
        listeners.put(group, listener);
        List<Event> waiting = kept.remove(group);
        if (waiting != null) {
            waiting.forEach(event -> event.tell(listener));
        }
    }

    void unregister(long group) {
        listeners.remove(group);
    }

    /** Tells all listeners there are now. */
    void tellAll(Event event) {
        List.copyOf(listeners.values()).forEach(event::tell);
    }

    void close() {
        listeners.clear();
        kept.values().forEach(waiting -> waiting.forEach(Event::drop));
        kept.clear();
    }
}
