package ferro.backend.tcp;

import io.netty.channel.Channel;
import java.io.IOException;

/**
 * Watches the data connections of one group for whoever drives it. A loop belongs to no thread: the driver may be another
 * one from call to call, one at a time; the engine's lock sees to that. Only {@link #wakeup} may come from any thread.
 *
 * <p>Nothing runs here by itself: no timers, no tasks, no closes. What must happen without a driver belongs on the
 * background loop.
 */
interface DrivenLoop extends AutoCloseable {
    /** Opens a loop that fits the channels of this kind of I/O. */
    static DrivenLoop open(TcpIo io) {
        return io.epoll() ? new EpollDrivenLoop() : new NioDrivenLoop();
    }

    /**
     * Takes over the socket of a channel that belongs to no other loop any more; the channel must not be touched by others
     * from now on, for its descriptor may be another connection's after {@link Wire#close}.
     */
    Wire adopt(Channel channel) throws IOException;

    /** Notes which wires have become readable or writable, without waiting. */
    void look();

    /** As {@link #look}, but waits until something has changed, {@link #wakeup}, an interrupt, or the time. */
    void block(long nanos);

    /** Ends a {@link #block}, or the next one if there is none now. */
    void wakeup();

    /** Closes what watches; the wires must have been closed before. */
    @Override
    void close();
}
