package ferro.backend.tcp.mesh;

import ferro.spi.ControlLane.PeerEvents;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The delivery of events to the receivers of groups. Events of a group that is not registered yet wait in a backlog of
 * limited size. Events of a group that has ended are dropped. Used on the loop only.
 */
final class InboxRouter {
    static final int MOST_UNKNOWN_GROUPS = 64;
    /** Maximum number of ended groups to remember, because peers may still request connections of these groups. */
    static final int MOST_CLOSED_GROUPS = 4096;

    static final int FEWEST_KEPT = 64;
    private static final int KEPT_PER_RANK = 4;

    private final int mostMessages;
    private final int mostConnections;
    private final Map<Long, GroupReceiver> receivers = new LinkedHashMap<>();
    /** Backlogs by group, in the order of their first events, so that the oldest backlog is dropped first. */
    private final Map<Long, Backlog> kept = new LinkedHashMap<>();
    /** Ended groups, in the order in which they ended, so that the oldest group is removed first. */
    private final Set<Long> ended = new LinkedHashSet<>();

    private boolean closed;

    InboxRouter(int worldSize) {
        mostMessages = Math.max(FEWEST_KEPT, KEPT_PER_RANK * worldSize);
        mostConnections = ChannelKey.LANES * worldSize;
    }

    /**
     * The receiver of the events of one group. The background loop calls the receiver, which must not block.
     *
     * @param rankOf for each rank of the mesh, its rank in the group; -1 for a rank that is not in the group
     * @param events receives the events that transports of every medium have
     * @param data   receives the data connections
     */
    record GroupReceiver(int[] rankOf, PeerEvents events, TcpControlLane.ArrivalReceiver data) {
        /** Passes an event of a peer to the receiver, or drops the event if the peer is not in the group. */
        void hear(int peer, InboxEvent event) {
            if (rankOf[peer] >= 0) {
                event.tell(this, rankOf[peer]);
            } else {
                event.drop();
            }
        }
    }

    /** An event of a group. */
    interface InboxEvent {
        /** Passes the event to a receiver. {@code rank} is the peer's rank in the group. */
        void tell(GroupReceiver to, int rank);

        /** Releases the resources of the event, if no listener will ever receive it. */
        default void drop() {}

        /**
         * Returns whether this event is a data connection. A backlog keeps at most as many connections as the number
         * of lanes times the number of ranks.
         */
        default boolean connection() {
            return false;
        }
    }

    record ControlDelivery(ByteBuffer message) implements InboxEvent {
        @Override
        public void tell(GroupReceiver to, int rank) {
            to.events().control(rank, message.duplicate());
        }
    }

    private record BacklogEvent(int peer, InboxEvent event) {}

    /** The events of one group that wait until the group registers its receiver. */
    private static final class Backlog {
        private final List<BacklogEvent> events = new ArrayList<>();
        private int connections;

        void drop() {
            events.forEach(kept -> kept.event().drop());
        }
    }

    /**
     * Passes an event to the group's receiver, or keeps the event if no receiver is registered. If the group has ended,
     * drops the event and returns false.
     */
    boolean deliver(long group, int peer, InboxEvent event) {
        if (isOver(group)) {
            event.drop();
            return false;
        }
        GroupReceiver receiver = receivers.get(group);
        if (receiver != null) {
            receiver.hear(peer, event);
            return true;
        }
        if (!kept.containsKey(group) && kept.size() >= MOST_UNKNOWN_GROUPS) {
            long oldest = kept.keySet().iterator().next();
            kept.remove(oldest).drop();
        }
        keep(kept.computeIfAbsent(group, none -> new Backlog()), peer, event);
        return true;
    }

    private void keep(Backlog waiting, int peer, InboxEvent event) {
        int connections = waiting.connections + (event.connection() ? 1 : 0);
        int messages = waiting.events.size() + 1 - connections;
        if (connections > mostConnections || messages > mostMessages) {
            event.drop();
            return;
        }
        waiting.connections = connections;
        waiting.events.add(new BacklogEvent(peer, event));
    }

    /** Returns whether a group was registered and has ended. A group that is unknown may be registered later. */
    boolean isOver(long group) {
        return closed || ended.contains(group);
    }

    /** Registers the receiver and passes the kept events to it. */
    void register(long group, GroupReceiver receiver) {
        if (closed) {
            return;
        }
        ended.remove(group);
        receivers.put(group, receiver);
        Backlog waiting = kept.remove(group);
        if (waiting != null) {
            for (BacklogEvent each : waiting.events) {
                receiver.hear(each.peer(), each.event());
            }
        }
    }

    void unregister(long group) {
        receivers.remove(group);
        ended.add(group);
        if (ended.size() > MOST_CLOSED_GROUPS) {
            Iterator<Long> oldest = ended.iterator();
            oldest.next();
            oldest.remove();
        }
    }

    void tellAll(int peer, InboxEvent event) {
        for (GroupReceiver receiver : List.copyOf(receivers.values())) {
            receiver.hear(peer, event);
        }
    }

    void close() {
        closed = true;
        receivers.clear();
        kept.values().forEach(Backlog::drop);
        kept.clear();
    }
}
