package ferro.backend.simulated;

import ferro.spi.Transport.Events;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.function.Consumer;

/**
 * The receiving side of one rank in one group. Other ranks put events into the inbox. The inbox exists before the rank
 * creates its transport and after the rank closes the transport.
 *
 * <p>The lock of {@link NetworkState} guards {@code wires} and {@code gone}. The monitor of the inbox guards all other
 * fields.
 */
final class GroupInbox {
    /** Wires by the rank and the lane of the peer. Guarded by the lock of {@link NetworkState}. */
    final Map<Long, LinkQueuePair> wires = new HashMap<>();
    /** Why the rank of this inbox dropped its links, or null. Guarded by the lock of {@link NetworkState}. */
    String gone;
    /** Whether the rank of this inbox has left the group normally, so that the end of its links is not a loss. */
    volatile boolean left;

    private final int rank;
    private final Queue<Consumer<Events>> waiting = new ArrayDeque<>();
    private Events events;
    private boolean closed;
    private boolean dead;

    /**
     * The two directions of one lane to a peer. A rank's wire to the rank itself has only one channel.
     *
     * @param outgoing channel to the peer
     * @param incoming channel from the peer
     */
    record LinkQueuePair(LinkQueue outgoing, LinkQueue incoming) {}

    GroupInbox(int rank) {
        this.rank = rank;
    }

    /** Returns the number of the rank in the group of all ranks. */
    int rank() {
        return rank;
    }

    /** Sets the receiver of events. Events that came before wait for {@link #tellWaiting}. */
    synchronized void events(Events receiver) {
        events = receiver;
    }

    /** Clears the receiver of events because the rank has died, as {@link #close} does. */
    synchronized void die() {
        dead = true;
        close();
    }

    /** Clears the receiver of events. Later events are dropped. */
    synchronized void close() {
        closed = true;
        events = null;
        waiting.clear();
    }

    /**
     * Passes an event to the receiver, immediately or after a receiver is set. Only the background thread of the medium
     * calls this method, so events keep their order. If the rank has closed the group normally, drops the event and
     * returns false.
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

    /** Passes the waiting events to the receiver. Only the background thread of the medium calls this method. */
    void tellWaiting() {
        for (Runnable next = next(); next != null; next = next()) {
            next.run();
        }
    }

    /** Returns a task that passes the first event to the receiver; null without a receiver, or without an event. */
    private synchronized Runnable next() {
        Events receiver = events;
        Consumer<Events> event = receiver == null ? null : waiting.poll();
        return event == null ? null : () -> event.accept(receiver);
    }
}
