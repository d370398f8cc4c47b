package ferro.backend.tcp;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What has come for each group: told to its listener, or kept for one that registers soon, within bounds; what comes for a
 * group that is over is dropped. On the loop only.
 */
final class Inboxes {
    static final int MOST_UNKNOWN_GROUPS = 64;
    /** Groups that are over are remembered so long: a peer may still ask for their connections. */
    static final int MOST_CLOSED_GROUPS = 4096;

    static final int FEWEST_KEPT = 64;
    private static final int KEPT_PER_RANK = 4;

    private final int mostMessages;
    private final int mostConnections;
    private final Map<Long, TcpMesh.Listener> listeners = new LinkedHashMap<>();
    /** In the order of their first event, so that the oldest goes first. */
    private final Map<Long, Kept> kept = new LinkedHashMap<>();
    /** In the order of their end, so that the oldest is forgotten first. */
    private final Set<Long> ended = new LinkedHashSet<>();

    private boolean closed;

    Inboxes(int worldSize) {
        mostMessages = Math.max(FEWEST_KEPT, KEPT_PER_RANK * worldSize);
        mostConnections = DataKey.LANES * worldSize;
    }

    /** Something that came for a group. */
    interface Event {
        /** Tells. */
        void tell(TcpMesh.Listener listener);

        /** Gives back what it holds where nobody will ever be told. */
        default void drop() {}

        /** Whether it is a connection: those are bounded by the number of ranks, never by how much they say. */
        default boolean connection() {
            return false;
        }
    }

    /** What waits for one group. */
    private static final class Kept {
        private final List<Event> events = new ArrayList<>();
        private int connections;
    }

    void deliver(long group, Event event) {
        if (isOver(group)) {
            event.drop();
            return;
        }
        TcpMesh.Listener listener = listeners.get(group);
        if (listener != null) {
            event.tell(listener);
            return;
        }
        if (!kept.containsKey(group) && kept.size() >= MOST_UNKNOWN_GROUPS) {
            long oldest = kept.keySet().iterator().next();
            kept.remove(oldest).events.forEach(Event::drop);
        }
        keep(kept.computeIfAbsent(group, none -> new Kept()), event);
    }

    private void keep(Kept waiting, Event event) {
        int connections = waiting.connections + (event.connection() ? 1 : 0);
        int messages = waiting.events.size() + 1 - connections;
        if (connections > mostConnections || messages > mostMessages) {
            event.drop();
            return;
        }
        waiting.connections = connections;
        waiting.events.add(event);
    }

    /** Returns whether a group has been here and is over; one that never was may still come. */
    boolean isOver(long group) {
        return closed || ended.contains(group);
    }

    /** Names the listener and tells it what was kept. */
    void register(long group, TcpMesh.Listener listener) {
        if (closed) {
            return;
        }
        ended.remove(group);
        listeners.put(group, listener);
        Kept waiting = kept.remove(group);
        if (waiting != null) {
            waiting.events.forEach(event -> event.tell(listener));
        }
    }

    void unregister(long group) {
        listeners.remove(group);
        ended.add(group);
        if (ended.size() > MOST_CLOSED_GROUPS) {
            Iterator<Long> oldest = ended.iterator();
            oldest.next();
            oldest.remove();
        }
    }

    /** Tells all listeners there are now. */
    void tellAll(Event event) {
        List.copyOf(listeners.values()).forEach(event::tell);
    }

    void close() {
        closed = true;
        listeners.clear();
        kept.values().forEach(waiting -> waiting.events.forEach(Event::drop));
        kept.clear();
    }
}
