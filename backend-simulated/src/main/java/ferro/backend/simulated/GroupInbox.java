package ferro.backend.simulated;

import ferro.spi.Transport.Events;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.function.Consumer;

/**
 * The receiving side of one rank in one group, for the other ranks. The inbox exists before the rank creates its
 * transport and after the rank closes it.
 *
 * <p>The network's lock guards the wires and the reason of the end. The inbox's own monitor guards the other fields.
 */
final class GroupInbox {
    /** Wires by the rank and the lane of the peer; under the network's lock. */
    final Map<Long, Wire> wires = new HashMap<>();
    /** Why this end dropped its links, or null; under the network's lock. */
    String gone;
    /** Whether the rank of this inbox has left the group normally, so that this end of its links is not a loss. */
    volatile boolean left;

    private final int rank;
    private final Queue<Consumer<Events>> waiting = new ArrayDeque<>();
    private Events events;
    private boolean closed;
    private boolean dead;

    /**
     * Both directions of one lane to a peer; a rank's wire to itself has one channel.
     *
     * @param outgoing channel to the peer
     * @param incoming channel from the peer
     */
    record Wire(LaneQueue outgoing, LaneQueue incoming) {}

    GroupInbox(int rank) {
        this.rank = rank;
    }

    /** Returns the rank in the group of all ranks. */
    int rank() {
        return rank;
    }

    /** Sets the receiver; events that came before wait for {@link #tellWaiting}. */
    synchronized void events(Events receiver) {
        events = receiver;
    }

    /** Clears the receiver, as {@link #close} does, because the rank has died. */
    synchronized void die() {
        dead = true;
        close();
    }

    /** Clears the receiver; later events are dropped. */
    synchronized void close() {
        closed = true;
        events = null;
        waiting.clear();
    }

    /**
     * Passes an event to the receiver, immediately or after a receiver is set. Called only on the medium's background
     * thread, which keeps the order. If the rank has closed the group normally, drops the event and returns false.
     */
    boolean tell(Consumer<Events> event) {
        synchronized (this) {
            if (closed) {
                return dead;
            }
            waiting.add(event);
        }
        tellWaiting();
        return true;
    }

    /** Passes the waiting events to the receiver; called only on the medium's background thread. */
    void tellWaiting() {
        for (Runnable next = next(); next != null; next = next()) {
            next.run();
        }
    }

    /** Returns the call of the receiver for the first event; null if there is no receiver, or no event. */
    private synchronized Runnable next() {
        Events receiver = events;
        Consumer<Events> event = receiver == null ? null : waiting.poll();
        return event == null ? null : () -> event.accept(receiver);
    }
}
