package ferro.backend.tcp;

import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.epoll.EpollSocketChannel;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.Objects;

/**
 * How far the ranks of other hosts are, by what the kernel has measured while it connected to them: the time from the first
 * packet to its answer, which no thread has to be given a processor for. Nothing is known where sockets are not driven by epoll.
 *
 * <p>The middle one counts, the lower of two: one slow answer among many, or a near host among far ones, changes nothing.
 */
final class RoundTrips {
    /** Half of it, a step, is what 64 KiB take at 1 Gbit/s, slow for a network of today. */
    private static final int FAR_MICROS = 1000;

    private RoundTrips() {}

    /** Whether a round trip is one between far hosts. */
    static boolean areFar(int roundTripMicros) {
        return roundTripMicros >= FAR_MICROS;
    }

    /**
     * Looks at a connection that has just been made, before an answer of the peer's process can be in its figures.
     *
     * @return microseconds; 0 if that is not known, or the peer is on this host
     */
    static int micros(Channel channel) {
        if (!(channel instanceof EpollSocketChannel socket) || isInsideHost(socket)) {
            return 0;
        }
        try {
            return (int) Math.min(Integer.MAX_VALUE, socket.tcpInfo().rtt());
        } catch (ChannelException ended) {
            System.getLogger("ferro.tcp").log(System.Logger.Level.DEBUG, "no round trip is known of " + channel, ended);
            return 0;
        }
    }

    /** A connection to an address of this host has that address at both ends. */
    private static boolean isInsideHost(EpollSocketChannel socket) {
        InetSocketAddress own = socket.localAddress();
        InetSocketAddress other = socket.remoteAddress();
        return own == null || other == null || own.getAddress().equals(other.getAddress());
    }

    /** Returns the middle one of those that are known, 0 if none is. */
    static int middleMicros(DialNotes[] notes) {
        return middle(Arrays.stream(notes)
                .filter(Objects::nonNull)
                .mapToInt(DialNotes::roundTripMicros)
                .toArray());
    }

    static int middle(int... micros) {
        int[] known = Arrays.stream(micros).filter(one -> one > 0).sorted().toArray();
        return known.length == 0 ? 0 : known[(known.length - 1) / 2];
    }
}
