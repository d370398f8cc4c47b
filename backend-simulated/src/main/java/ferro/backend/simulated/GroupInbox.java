package ferro.backend.simulated;

import ferro.spi.Transport.Events;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.function.Consumer;

/**
 * One rank's end of one group as other ranks see it. It exists also before that rank has made its end and after it has
 * closed it.
 *
 * <p>The network's lock guards the wires and the reason of the end; the mailbox's monitor guards the rest.
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

    /** Returns the rank in the world. */
    int rank() {
        return rank;
    }

    /** Returns the wires by the peer's rank and lane; under the network's lock. */
    Map<Long, Wire> wires() {
        return wires;
    }

    /** Notes that this end leaves in good order. */
    void leaves() {
        left = true;
    }

    boolean hasLeft() {
        return left;
    }

    /** Returns why this end dropped its links, or null; under the network's lock. */
    String gone() {
        return gone;
    }

    /** Notes why this end dropped its links; under the network's lock. */
    void gone(String why) {
        gone = why;
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

    /** Clears the receiver; events that come from now on are dropped. */
    synchronized void close() {
        closed = true;
        events = null;
        waiting.clear();
    }

    /**
     * Passes an event to the receiver, now or once there is one. Called only on the medium's background thread, which
     * keeps the order. Returns false if the rank has closed this end in good order, and the event is dropped.
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

    /** Passes on the events that have waited; called only on the medium's background thread. */
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
