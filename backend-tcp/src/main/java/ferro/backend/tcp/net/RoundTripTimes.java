package ferro.backend.tcp.net;

import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.epoll.EpollSocketChannel;
import java.net.InetSocketAddress;
import java.util.Arrays;

/**
 * The round trip times to the ranks of other hosts. The kernel measures the time from the first packet of a connection
 * to the answer, so the time does not depend on thread scheduling. The times are known only with epoll.
 *
 * <p>The median of the times is used; of two middle values, the lower one. Therefore a single slow answer does not
 * change the result much, and neither does a single near host among far hosts.
 */
public final class RoundTripTimes {
    /**
     * Shortest round trip time of a far host. It is twice the time in which a slow network of 1 Gbit/s transfers 64
     * KiB.
     */
    private static final int FAR_MICROS = 1000;

    private RoundTripTimes() {}

    /** Returns whether a round trip time is as long as that to a far host. */
    public static boolean areFar(int roundTripMicros) {
        return roundTripMicros >= FAR_MICROS;
    }

    /**
     * Reads the round trip time of a new connection, before the time can include an answer of the peer's process.
     *
     * @return microseconds; 0 if the time is unknown, or the peer is on this host
     */
    static int micros(Channel channel) {
        if (!(channel instanceof EpollSocketChannel socket) || isInsideHost(socket)) {
            return 0;
        }
        try {
            return (int) Math.min(Integer.MAX_VALUE, socket.tcpInfo().rtt());
        } catch (ChannelException ended) {
            System.getLogger("ferro.tcp")
                    .log(System.Logger.Level.DEBUG, "the round-trip time is unknown for " + channel, ended);
            return 0;
        }
    }

    /** Returns whether the peer is on this host. A connection within a host has the same address at both ends. */
    private static boolean isInsideHost(EpollSocketChannel socket) {
        InetSocketAddress own = socket.localAddress();
        InetSocketAddress other = socket.remoteAddress();
        return own == null || other == null || own.getAddress().equals(other.getAddress());
    }

    /** Returns the median of the known times; 0 if no time is known. */
    public static int middleMicros(ConnectAttempts[] notes) {
        int[] micros = new int[notes.length];
        for (int at = 0; at < notes.length; at++) {
            micros[at] = notes[at] == null ? 0 : notes[at].roundTripMicros();
        }
        return middle(micros);
    }

    static int middle(int... micros) {
        int[] sorted = micros.clone();
        Arrays.sort(sorted);
        int unknown = 0;
        while (unknown < sorted.length && sorted[unknown] <= 0) {
            unknown++;
        }
        return unknown == sorted.length ? 0 : sorted[unknown + (sorted.length - unknown - 1) / 2];
    }
}
