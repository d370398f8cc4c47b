package ferro.backend.tcp.connect;

import ferro.FerroException;
import ferro.FerroException.Code;
import io.netty.channel.Channel;
import io.netty.channel.ConnectTimeoutException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.nio.channels.ClosedChannelException;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;

/** The results of the attempts to connect to one peer, in words for operators; thread-safe. */
public final class DialNotes {
    private final LongSupplier clock;
    private int attempts;
    private long begunNanos;
    private boolean underWay;
    private String last = "";
    private int roundTripMicros;

    /** Makes empty notes; {@code clock} returns nanoseconds. */
    public DialNotes(LongSupplier clock) {
        this.clock = clock;
    }

    /** Records that an attempt begins. */
    public synchronized void begun() {
        attempts++;
        begunNanos = clock.getAsLong();
        underWay = true;
    }

    /** Records that the attempt failed; null means that the other side closed the connection. */
    public synchronized String failed(Throwable cause) {
        underWay = false;
        last = words(cause, clock.getAsLong() - begunNanos);
        return last;
    }

    /** Records that a connection is made, on which nothing has been sent yet. */
    synchronized void connected(Channel channel) {
        roundTripMicros = RoundTripTimes.micros(channel);
    }

    /** Returns the round trip time to the peer in microseconds; 0 if it is not known, or the peer is on this host. */
    synchronized int roundTripMicros() {
        return roundTripMicros;
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

    /** Returns how the last attempt ended, or that it has no answer yet. */
    public synchronized String last() {
        if (last.isEmpty() && underWay) {
            return silence(clock.getAsLong() - begunNanos);
        }
        return last.isEmpty() ? "not tried yet" : last;
    }

    private static String words(Throwable cause, long tookNanos) {
        if (cause == null) {
            return "connected, and the other side closed the connection without a word";
        }
        String text = String.valueOf(cause.getMessage());
        if (cause instanceof ConnectTimeoutException || cause instanceof ClosedChannelException) {
            return silence(tookNanos);
        }
        if (cause instanceof TimeoutException) {
            return "connected, but no word in " + seconds(tookNanos)
                    + ": does another program listen there, or does its process stand still?";
        }
        if (cause instanceof NoRouteToHostException || text.contains("No route") || text.contains("unreachable")) {
            return "no route";
        }
        if (cause instanceof ConnectException && text.toLowerCase(Locale.ROOT).contains("refused")) {
            return "refused: nothing listens there, or a firewall says no";
        }
        return text;
    }

    private static String silence(long nanos) {
        return "no answer in " + seconds(nanos) + ": is a firewall between them?";
    }

    private static String seconds(long nanos) {
        long tenths = TimeUnit.NANOSECONDS.toMillis(nanos) / 100;
        return (tenths % 10 == 0 ? Long.toString(tenths / 10) : tenths / 10 + "." + tenths % 10) + " s";
    }
}
