package ferro.backend.tcp.net;

import ferro.FerroException;
import ferro.FerroException.Code;
import io.netty.channel.Channel;
import io.netty.channel.ConnectTimeoutException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/** The results of the attempts to connect to one peer, as texts for operators. Thread-safe. */
public final class ConnectAttempts {
    private static final int MOST_ADDRESSES = 4;
    /**
     * How long an address is silent before a text names a possible cause. A shorter silence probably means that the
     * host is busy, and needs no action.
     */
    public static final Duration CAUSE_AFTER = Duration.ofSeconds(2);

    /** Result of an attempt at a loopback address while the loopback interface is down. */
    public static final String LOOPBACK_DOWN =
            "the loopback interface of this machine is down (ip link set lo up starts it)";

    /** Part of the error text of a connect to {@code ::1} if the loopback interface is down or has no IPv6. */
    private static final String NO_SUCH_ADDRESS = "assign requested address";

    private final LongSupplier clock;
    private int attempts;
    private long firstNanos;
    /** The last attempt at each address, in the order of the addresses. */
    private final Map<InetSocketAddress, AddressAttempt> tried = new LinkedHashMap<>();

    /** Whether several addresses were tried in the last round, so that texts name the address. */
    private boolean several;
    /** Whether any attempt has made a connection. */
    private boolean connected;

    private int roundTripMicros;

    /** The last attempt at one address. */
    private static final class AddressAttempt {
        /** The time of the attempt's last event: its start, its connection, or an answer. */
        private long sinceNanos;
        /** How long the address did not answer, over all earlier attempts since its last answer. */
        private long silentNanos;
        /** Whether the attempt has an open connection. */
        private boolean open;
        /** Whether the peer has answered on this connection. */
        private boolean answered;
        /** Whether the last attempt with a result made a connection. */
        private boolean served;
        /** How the last attempt ended; null if no attempt has ended, or if a connection was made later. */
        private String end;
    }

    /** Creates an object without attempts; {@code clock} returns nanoseconds. */
    public ConnectAttempts(LongSupplier clock) {
        this.clock = clock;
    }

    /** Removes addresses that no longer belong to the peer. */
    synchronized void round(List<InetSocketAddress> all) {
        tried.keySet().retainAll(all);
        several &= all.size() > 1;
    }

    private AddressAttempt at(InetSocketAddress to) {
        AddressAttempt known = tried.get(to);
        if (known == null) {
            known = new AddressAttempt();
            tried.put(to, known);
        }
        return known;
    }

    /** Records that an attempt at an address begins. */
    public synchronized void begun(InetSocketAddress to) {
        AddressAttempt attempt = at(to);
        attempt.sinceNanos = clock.getAsLong();
        attempt.open = false;
        firstNanos = attempts == 0 ? attempt.sinceNanos : firstNanos;
        attempts++;
        several |= tried.size() > 1;
    }

    /** Records that the attempt at an address has failed. A null cause means that the peer closed the connection. */
    public synchronized String failed(InetSocketAddress to, Throwable cause) {
        AddressAttempt attempt = at(to);
        attempt.end = words(to, cause, attempt);
        attempt.silentNanos = isSilence(cause) ? silentNanos(attempt) : 0;
        attempt.served = attempt.open;
        attempt.open = false;
        return attempt.end;
    }

    /**
     * Records a new connection on which nothing has been sent yet. Discards the results of earlier attempts. The caller
     * has ended the attempts at other addresses.
     */
    synchronized void connected(InetSocketAddress to, Channel channel) {
        tried.keySet().retainAll(Set.of(to));
        AddressAttempt attempt = at(to);
        attempt.sinceNanos = clock.getAsLong();
        if (!attempt.served) {
            attempt.silentNanos = 0; // the address is not silent, because it has accepted a connection
        }
        attempt.open = true;
        attempt.answered = false;
        attempt.served = true;
        attempt.end = null;
        connected = true;
        roundTripMicros = RoundTripTimes.micros(channel);
    }

    /** Records that the peer has answered on its connection, and that the handshake continues. */
    synchronized void answered(InetSocketAddress to) {
        AddressAttempt attempt = at(to);
        attempt.sinceNanos = clock.getAsLong();
        attempt.silentNanos = 0;
        attempt.answered = true;
    }

    /**
     * Returns the round trip time to the peer in microseconds; 0 if the time is unknown, or if the peer is on this
     * host.
     */
    synchronized int roundTripMicros() {
        return roundTripMicros;
    }

    /** Returns whether at least one attempt was made, but no attempt has made a connection. */
    public synchronized boolean allUnserved() {
        return attempts > 0 && !connected;
    }

    /** Returns the number of attempts. */
    public synchronized int attempts() {
        return attempts;
    }

    /** Returns whether the last attempt at any address made a connection. A connection shows that a process listens. */
    public synchronized boolean reached() {
        return tried.values().stream().anyMatch(attempt -> attempt.served);
    }

    /** Returns whether any attempt has made a connection. A connection shows that nothing blocks the path. */
    public synchronized boolean hasConnected() {
        return connected;
    }

    /**
     * Returns whether an attempt has ended and no later attempt has made a connection, so that a text can name a
     * failure.
     */
    public synchronized boolean hasEnded() {
        return tried.values().stream().anyMatch(attempt -> attempt.end != null);
    }

    /** Returns how long ago the first attempt began, in milliseconds; 0 if no attempt has begun. */
    public synchronized long triedMillis() {
        return attempts == 0 ? 0 : TimeUnit.NANOSECONDS.toMillis(clock.getAsLong() - firstNanos);
    }

    /**
     * Returns whether the attempts failed because the loopback interface of this host is down. One address that failed
     * for this reason is enough, because {@code ::1} may have failed for another reason, the lack of IPv6.
     */
    public synchronized boolean isLoopbackDown() {
        boolean down = false;
        for (AddressAttempt attempt : tried.values()) {
            String end = attempt.end;
            if (end != null && !end.equals(LOOPBACK_DOWN) && !end.contains(NO_SUCH_ADDRESS)) {
                return false;
            }
            down |= end != null && end.equals(LOOPBACK_DOWN);
        }
        return down;
    }

    /**
     * Returns the failure of a dial that no peer has answered before its deadline.
     *
     * @param call       dialled peer
     * @param begunNanos start of the dial, in nanoseconds of the clock of this object
     * @param cause      reason why the last attempt ended; null if unknown
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

    /**
     * Returns a text about how the last attempt has ended, or how far it is. If several addresses were tried, the text
     * has one part for each address.
     */
    public synchronized String last() {
        if (tried.isEmpty()) {
            return "not tried yet";
        }
        String text = tried.entrySet().stream()
                .limit(MOST_ADDRESSES)
                .map(each -> (several ? AddressLookup.text(each.getKey()) + ": " : "")
                        + last(each.getKey(), each.getValue()))
                .collect(Collectors.joining("; "));
        int more = tried.size() - MOST_ADDRESSES;
        return more > 0 ? text + "; and " + more + " more addresses" : text;
    }

    private String last(InetSocketAddress to, AddressAttempt attempt) {
        if (attempt.open) {
            return isLong(attempt) ? unanswered(attempt) : "connected, no answer yet after " + seconds(attempt);
        }
        return attempt.end != null ? attempt.end : silence(to, attempt);
    }

    private String words(InetSocketAddress to, Throwable cause, AddressAttempt attempt) {
        if (cause == null) {
            return attempt.answered
                    ? "connected, but the other side closed the connection in the handshake"
                    : "connected, but the other side closed the connection and sent nothing";
        }
        String text = String.valueOf(cause.getMessage());
        if (isSilence(cause)) {
            return cause instanceof TimeoutException ? unanswered(attempt) : silence(to, attempt);
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

    /** Returns whether an attempt ended because the peer was silent. */
    private static boolean isSilence(Throwable cause) {
        return cause instanceof ConnectTimeoutException
                || cause instanceof ClosedChannelException
                || cause instanceof TimeoutException;
    }

    /** Returns how long an address has been silent over all attempts since its last answer. */
    private long silentNanos(AddressAttempt attempt) {
        return attempt.silentNanos + clock.getAsLong() - attempt.sinceNanos;
    }

    /** Returns whether an address has been silent so long that a text names a cause. */
    private boolean isLong(AddressAttempt attempt) {
        return silentNanos(attempt) >= CAUSE_AFTER.toNanos();
    }

    /** Returns the text for a connection on which the peer does not continue the handshake. */
    private String unanswered(AddressAttempt attempt) {
        String cause = attempt.answered
                ? ": is its process stopped or without a core?"
                : ": does another program listen there, or is its process stopped or without a core?";
        return "connected, but received nothing " + (attempt.answered ? "more in " : "in ") + seconds(attempt)
                + (isLong(attempt) ? cause : "");
    }

    private String silence(InetSocketAddress to, AddressAttempt attempt) {
        boolean asks = isLong(attempt) && mayBeBlocked(to);
        return "no answer in " + seconds(attempt) + (asks ? ": does a firewall block the connection?" : "");
    }

    /** Returns whether a firewall may block connections; false within one host, or after any connection was made. */
    private boolean mayBeBlocked(InetSocketAddress to) {
        return !connected && !TlsPolicy.isOwn(to.getAddress());
    }

    private String seconds(AddressAttempt attempt) {
        long tenths = TimeUnit.NANOSECONDS.toMillis(clock.getAsLong() - attempt.sinceNanos) / 100;
        return (tenths % 10 == 0 ? Long.toString(tenths / 10) : tenths / 10 + "." + tenths % 10) + " s";
    }
}
