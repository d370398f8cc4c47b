package ferro.backend.tcp.link;

import ferro.backend.tcp.net.SocketConfig;
import io.netty.channel.Channel;
import java.io.IOException;

/**
 * The poller of the data connections of one group, used by the thread that makes progress. A loop belongs to no thread.
 * Each poll may come from another thread, but the engine's lock guarantees that one thread at a time polls the loop.
 * Only {@link #wakeup} may be called by any thread.
 *
 * <p>A loop does nothing between the calls of its methods. It has no timers, runs no tasks and closes no connections.
 * Work that must happen without a progress thread belongs on the background loop.
 */
public interface PolledLoop extends AutoCloseable {
    /** Opens a loop for the channels that {@code io} creates. */
    static PolledLoop open(SocketConfig io) {
        return io.epoll() ? new EpollLoop() : new NioLoop();
    }

    /**
     * Takes over the socket of a channel that belongs to no other loop. The caller must not use the channel after this
     * call, because the descriptor of the channel may belong to another connection after {@link DataSocket#close}.
     */
    DataSocket adopt(Channel channel) throws IOException;

    /** Records which sockets have become readable or writable, without waiting. */
    void look();

    /**
     * Waits for a socket event, {@link #wakeup}, an interrupt, or the end of the given time. Then calls {@link #look}.
     */
    void block(long nanos);

    /** Ends the current {@link #block}, or the next {@link #block} if none is running. */
    void wakeup();

    /** Closes the loop; the sockets must have been closed before. */
    @Override
    void close();
}
