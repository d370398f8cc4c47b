package ferro.backend.tcp.mesh;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The events of each group. They are passed to its listener, or kept within bounds for a listener that registers soon.
 * Events of a group that is over are dropped. Used on the loop only.
 */
final class Inboxes {
    static final int MOST_UNKNOWN_GROUPS = 64;
    /** Number of ended groups that are remembered: a peer may still request their connections. */
    static final int MOST_CLOSED_GROUPS = 4096;

    static final int FEWEST_KEPT = 64;
    private static final int KEPT_PER_RANK = 4;

    private final int mostMessages;
    private final int mostConnections;
    private final Map<Long, TcpMesh.Listener> listeners = new LinkedHashMap<>();
    /** Backlogs by group, in the order of their first event, so that the oldest is dropped first. */
    private final Map<Long, Backlog> kept = new LinkedHashMap<>();
    /** Ended groups, in the order of their end, so that the oldest is forgotten first. */
    private final Set<Long> ended = new LinkedHashSet<>();

    private boolean closed;

    Inboxes(int worldSize) {
        mostMessages = Math.max(FEWEST_KEPT, KEPT_PER_RANK * worldSize);
        mostConnections = DataKey.LANES * worldSize;
    }

    /** An event of a group. */
    interface InboxEvent {
        /** Passes the event to a listener. */
        void tell(TcpMesh.Listener listener);

        /** Releases what the event holds if no listener will ever receive it. */
        default void drop() {}

        /** Returns whether this is a connection: the number of ranks bounds those, not the number of bytes. */
        default boolean connection() {
            return false;
        }
    }

    record ControlDelivery(int peer, ByteBuffer message) implements InboxEvent {
        @Override
        public void tell(TcpMesh.Listener listener) {
            listener.control(peer, message.duplicate());
        }
    }

    /** The events that wait for the listener of one group. */
    private static final class Backlog {
        private final List<InboxEvent> events = new ArrayList<>();
        private int connections;
    }

    /** Passes on or keeps an event; returns false if the group is over, and drops the event. */
    boolean deliver(long group, InboxEvent event) {
        if (isOver(group)) {
            event.drop();
            return false;
        }
        TcpMesh.Listener listener = listeners.get(group);
        if (listener != null) {
            event.tell(listener);
            return true;
        }
        if (!kept.containsKey(group) && kept.size() >= MOST_UNKNOWN_GROUPS) {
            long oldest = kept.keySet().iterator().next();
            kept.remove(oldest).events.forEach(InboxEvent::drop);
        }
        keep(kept.computeIfAbsent(group, none -> new Backlog()), event);
        return true;
    }

    private void keep(Backlog waiting, InboxEvent event) {
        int connections = waiting.connections + (event.connection() ? 1 : 0);
        int messages = waiting.events.size() + 1 - connections;
        if (connections > mostConnections || messages > mostMessages) {
            event.drop();
            return;
        }
        waiting.connections = connections;
        waiting.events.add(event);
    }

    /** Returns whether a group was registered and is over; a group that never was may still be registered. */
    boolean isOver(long group) {
        return closed || ended.contains(group);
    }

    /** Registers the listener and passes the kept events to it. */
    void register(long group, TcpMesh.Listener listener) {
        if (closed) {
            return;
        }
        ended.remove(group);
        listeners.put(group, listener);
        Backlog waiting = kept.remove(group);
        if (waiting != null) {
            for (InboxEvent event : waiting.events) {
                event.tell(listener);
            }
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

    /** Passes an event to all current listeners. */
    void tellAll(InboxEvent event) {
        for (TcpMesh.Listener listener : List.copyOf(listeners.values())) {
            event.tell(listener);
        }
    }

    void close() {
        closed = true;
        listeners.clear();
        kept.values().forEach(waiting -> waiting.events.forEach(InboxEvent::drop));
        kept.clear();
    }
}
