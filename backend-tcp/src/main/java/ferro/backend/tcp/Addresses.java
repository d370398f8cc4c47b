package ferro.backend.tcp;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.spi.RankContext;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.concurrent.TimeUnit;

/** Host names and the addresses of this machine; blocks, so never on a loop. */
final class Addresses {
    private static final long PAUSE_MILLIS = 250;
    /** Any port serves: a connected UDP socket sends nothing. */
    private static final int DISCARD_PORT = 9;

    private Addresses() {}

    /** Resolves, again and again until the deadline: names of a starting cluster appear late. */
    static InetAddress resolved(String host, long deadlineNanos, RankContext context, Where where) {
        while (true) {
            try {
                return InetAddress.getByName(host);
            } catch (UnknownHostException unknown) {
                long left = TimeUnit.NANOSECONDS.toMillis(deadlineNanos - context.nanoTime());
                if (left <= 0) {
                    throw new FerroException(
                            Code.RENDEZVOUS,
                            where,
                            "no address is known for host \"" + host + "\" at the deadline: check MASTER_ADDR or"
                                    + " ferro.rendezvous",
                            unknown);
                }
                pause(Math.min(PAUSE_MILLIS, left), where);
            }
        }
    }

    /** The address of this machine that packets to another one carry. */
    static InetAddress routingTo(InetAddress target, Where where) {
        if (target.isLoopbackAddress()) {
            return target;
        }
        try (DatagramSocket probe = new DatagramSocket()) {
            probe.connect(new InetSocketAddress(target, DISCARD_PORT));
            return probe.getLocalAddress();
        } catch (IOException unreachable) {
            throw new FerroException(
                    Code.RENDEZVOUS,
                    where,
                    "no route from this machine to " + target + " (" + unreachable + ")",
                    unreachable);
        }
    }

    private static void pause(long millis, Where where) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new FerroException(
                    Code.INTERRUPTED, where, "interrupted while resolving for \"" + where.group() + "\"", interrupted);
        }
    }

    static String text(InetSocketAddress address) {
        return text(address.getAddress().getHostAddress(), address.getPort());
    }

    static String text(String host, int port) {
        return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
    }
}
