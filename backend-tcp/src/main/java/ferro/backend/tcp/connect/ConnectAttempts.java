package ferro.backend.tcp.connect;

import ferro.FerroException;
import ferro.FerroException.Code;
import io.netty.channel.Channel;
import io.netty.channel.ConnectTimeoutException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.nio.channels.ClosedChannelException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/** The results of the attempts to connect to one peer, in words for operators; thread-safe. */
public final class ConnectAttempts {
    private static final int MOST_ADDRESSES = 4;

    private final LongSupplier clock;
    private int attempts;
    /** When the last attempt at each address began, in the order of the addresses. */
    private final Map<InetSocketAddress, Long> begun = new LinkedHashMap<>();
    /** How the last attempt at each address ended. */
    private final Map<InetSocketAddress, String> ends = new HashMap<>();

    private boolean connected;
    private int roundTripMicros;

    /** Makes empty notes; {@code clock} returns nanoseconds. */
    public ConnectAttempts(LongSupplier clock) {
        this.clock = clock;
    }

    /** Forgets the addresses that are no longer addresses of the peer. */
    synchronized void round(List<InetSocketAddress> all) {
        begun.keySet().retainAll(all);
        ends.keySet().retainAll(all);
    }

    /** Records that an attempt at an address begins. */
    public synchronized void begun(InetSocketAddress to) {
        attempts++;
        begun.put(to, clock.getAsLong());
    }

    /** Records that the attempt failed; null means that the other side closed the connection. */
    public synchronized String failed(InetSocketAddress to, Throwable cause) {
        String text = words(cause, clock.getAsLong() - begun.get(to));
        ends.put(to, text);
        return text;
    }

    /** Records that a connection is made, on which nothing has been sent yet. */
    synchronized void connected(Channel channel) {
        connected = true;
        roundTripMicros = RoundTripTimes.micros(channel);
    }

    /** Returns the round trip time to the peer in microseconds; 0 if it is not known, or the peer is on this host. */
    synchronized int roundTripMicros() {
        return roundTripMicros;
    }

    /** Returns whether there were attempts, and none has made a connection. */
    public synchronized boolean allUnserved() {
        return attempts > 0 && !connected;
    }

    /** Returns the number of attempts. */
    public synchronized int attempts() {
        return attempts;
    }

    /**
     * Returns the failure of a call that no peer has answered before its deadline.
     *
     * @param call       call
     * @param begunNanos when it was begun, on the clock of these notes
     * @param cause      end of the last attempt; null if that is not known
     */
    public synchronized FerroException gaveUp(TcpDialer.DialledPeer call, long begunNanos, Throwable cause) {
        long millis = TimeUnit.NANOSECONDS.toMillis(clock.getAsLong() - begunNanos);
        return new FerroException(
                Code.RENDEZVOUS,
                call.where(),
                "cannot connect to " + call.what() + " within " + millis + " ms (" + attempts + " attempts, last: "
                        + last() + ")",
                cause);
    }

    /** Returns how the last attempt ended, or that it has no answer yet; for each address if there are several. */
    public synchronized String last() {
        if (begun.isEmpty()) {
            return "not tried yet";
        }
        boolean several = begun.size() > 1;
        String text = begun.keySet().stream()
                .limit(MOST_ADDRESSES)
                .map(to -> (several ? Addresses.text(to) + ": " : "") + last(to))
                .collect(Collectors.joining("; "));
        int more = begun.size() - MOST_ADDRESSES;
        return more > 0 ? text + "; and " + more + " more addresses" : text;
    }

    private String last(InetSocketAddress to) {
        String end = ends.get(to);
        return end != null ? end : silence(clock.getAsLong() - begun.get(to));
    }

    private static String words(Throwable cause, long tookNanos) {
        if (cause == null) {
            return "connected, but the other side closed the connection and sent nothing";
        }
        String text = String.valueOf(cause.getMessage());
        if (cause instanceof ConnectTimeoutException || cause instanceof ClosedChannelException) {
            return silence(tookNanos);
        }
        if (cause instanceof TimeoutException) {
            return "connected, but received nothing in " + seconds(tookNanos)
                    + ": does another program listen there, or is its process stopped?";
        }
        if (cause instanceof NoRouteToHostException || text.contains("No route") || text.contains("unreachable")) {
            return "no route";
        }
        if (cause instanceof ConnectException && text.toLowerCase(Locale.ROOT).contains("refused")) {
            return "refused: nothing listens there, or a firewall rejects the connection";
        }
        return text;
    }

    private static String silence(long nanos) {
        return "no answer in " + seconds(nanos) + ": does a firewall block the connection?";
    }

    private static String seconds(long nanos) {
        long tenths = TimeUnit.NANOSECONDS.toMillis(nanos) / 100;
        return (tenths % 10 == 0 ? Long.toString(tenths / 10) : tenths / 10 + "." + tenths % 10) + " s";
    }
}
