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
    private final int rank;
    private final Map<Long, Wire> wires = new HashMap<>();
    private String gone;
    private volatile boolean left;

    private final Queue<Consumer<Events>> waiting = new ArrayDeque<>();
    private Events events;
    private boolean closed;
    private boolean dead;

    GroupInbox(int rank) {
        this.rank = rank;
    }

    /** Returns the rank in the group of all ranks. */
    int rank() {
        return rank;
    }

    /** Returns the wires by the peer's rank and lane; under the network's lock. */
    Map<Long, Wire> wires() {
        return wires;
    }

    /** Records that the rank leaves the group normally. */
    void leaves() {
        left = true;
    }

    boolean hasLeft() {
        return left;
    }

    /** Returns why the rank dropped its links, or null; under the network's lock. */
    String gone() {
        return gone;
    }

    /** Records why the rank dropped its links; under the network's lock. */
    void gone(String why) {
        gone = why;
    }

    /** Sets the receiver. Earlier events wait for {@link #tellWaiting}. */
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
     * thread, which keeps the order. Returns false if the rank has closed the group normally; then drops the event.
     */
    boolean tell(Consumer<Events> event) {
        Events now;
        synchronized (this) {
            if (closed) {
                return dead;
            }
            now = waiting.isEmpty() ? events : null;
            if (now == null) {
                waiting.add(event);
            }
        }
        if (now != null) {
            event.accept(now);
        } else {
            tellWaiting();
        }
        return true;
    }

    /** Passes the waiting events to the receiver; called only on the medium's background thread. */
    void tellWaiting() {
        for (Consumer<Events> event = next(); event != null; event = next()) {
            Events receiver = receiver();
            if (receiver != null) {
                event.accept(receiver);
            }
        }
    }

    private synchronized Consumer<Events> next() {
        return events == null ? null : waiting.poll();
    }

    private synchronized Events receiver() {
        return events;
    }
}
