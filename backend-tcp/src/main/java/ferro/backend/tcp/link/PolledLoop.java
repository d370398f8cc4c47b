package ferro.backend.tcp.link;

import ferro.backend.tcp.net.TcpIo;
import io.netty.channel.Channel;
import java.io.IOException;

/**
 * The watch over the data connections of one group, for the thread that makes progress. A loop belongs to no thread. At
 * each poll another thread may poll the loop, but only one at a time, which the engine's lock guarantees. Only
 * {@link #wakeup} may be called by any thread.
 *
 * <p>A loop does nothing by itself, and has no timers, no tasks and no closes. Work that must happen without a progress
 * thread belongs on the background loop.
 */
public interface PolledLoop extends AutoCloseable {
    /** Opens a loop for the channels of this kind of I/O. */
    static PolledLoop open(TcpIo io) {
        return io.epoll() ? new EpollLoop() : new NioLoop();
    }

    /**
     * Takes over the socket of a channel that belongs to no other loop. The caller must not use the channel after this
     * call, because its descriptor may belong to another connection after {@link DataSocket#close}.
     */
    DataSocket adopt(Channel channel) throws IOException;

    /** Records which sockets have become readable or writable, without waiting. */
    void look();

    /** Like {@link #look}, but waits for a socket event, {@link #wakeup}, an interrupt, or the end of the time. */
    void block(long nanos);

    /** Ends the current {@link #block}, or the next one if none is running. */
    void wakeup();

    /** Closes the loop; the sockets must have been closed before. */
    @Override
    void close();
}
