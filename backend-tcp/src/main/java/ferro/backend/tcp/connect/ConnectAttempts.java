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
    /** How an attempt at a loopback address ends if that interface is down. */
    public static final String LOOPBACK_DOWN =
            "the loopback interface of this machine is down (ip link set lo up starts it)";

    private final LongSupplier clock;
    private int attempts;
    private long firstNanos;
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
        long now = clock.getAsLong();
        firstNanos = attempts == 0 ? now : firstNanos;
        attempts++;
        begun.put(to, now);
    }

    /** Records that the attempt failed; null means that the other side closed the connection. */
    public synchronized String failed(InetSocketAddress to, Throwable cause) {
        String text = words(to, cause, clock.getAsLong() - begun.get(to));
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

    /** Returns whether an attempt has made a connection, so that nothing on the way blocks it. */
    public synchronized boolean reached() {
        return connected;
    }

    /** Returns whether an attempt has ended, so that more is known than that no answer has come yet. */
    public synchronized boolean hasEnded() {
        return !ends.isEmpty();
    }

    /** Returns how long ago the first attempt began, in milliseconds; 0 if there was none. */
    public synchronized long triedMillis() {
        return attempts == 0 ? 0 : TimeUnit.NANOSECONDS.toMillis(clock.getAsLong() - firstNanos);
    }

    /** Returns whether all attempts have ended because the loopback interface of this machine is down. */
    public synchronized boolean isLoopbackDown() {
        return !ends.isEmpty() && ends.values().stream().allMatch(LOOPBACK_DOWN::equals);
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
                "cannot connect to " + call.what() + " within " + millis + " ms (" + attempts
                        + (attempts == 1 ? " attempt, last: " : " attempts, last: ") + last() + ")",
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
        return end != null ? end : silence(to, clock.getAsLong() - begun.get(to));
    }

    private String words(InetSocketAddress to, Throwable cause, long tookNanos) {
        if (cause == null) {
            return "connected, but the other side closed the connection and sent nothing";
        }
        String text = String.valueOf(cause.getMessage());
        if (cause instanceof ConnectTimeoutException || cause instanceof ClosedChannelException) {
            return silence(to, tookNanos);
        }
        if (cause instanceof TimeoutException) {
            return "connected, but received nothing in " + seconds(tookNanos)
                    + ": does another program listen there, or is its process stopped or without a core?";
        }
        if (cause instanceof NoRouteToHostException || text.contains("No route") || text.contains("unreachable")) {
            return to.getAddress().isLoopbackAddress() ? LOOPBACK_DOWN : "no route";
        }
        if (cause instanceof ConnectException && text.toLowerCase(Locale.ROOT).contains("refused")) {
            return "refused: nothing listens there"
                    + (mayBeBlocked(to) ? ", or a firewall rejects the connection" : "");
        }
        return text;
    }

    private String silence(InetSocketAddress to, long nanos) {
        return "no answer in " + seconds(nanos) + (mayBeBlocked(to) ? ": does a firewall block the connection?" : "");
    }

    /** Returns whether something on the way may block connections: not on one machine, and not if one was made before. */
    private boolean mayBeBlocked(InetSocketAddress to) {
        return !connected && !TlsPolicy.isOwn(to.getAddress());
    }

    private static String seconds(long nanos) {
        long tenths = TimeUnit.NANOSECONDS.toMillis(nanos) / 100;
        return (tenths % 10 == 0 ? Long.toString(tenths / 10) : tenths / 10 + "." + tenths % 10) + " s";
    }
}
