package ferro.backend.tcp;

import io.netty.channel.Channel;
import io.netty.channel.ConnectTimeoutException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.nio.channels.ClosedChannelException;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;

/** What became of the attempts to connect to one peer, in words for operators; thread-safe. */
final class DialNotes {
    private final LongSupplier clock;
    private int attempts;
    private long begunNanos;
    private boolean underWay;
    private String last = "";
    private int roundTripMicros;

    DialNotes(LongSupplier clock) {
        this.clock = clock;
    }

    /** An attempt begins. */
    synchronized void begun() {
        attempts++;
        begunNanos = clock.getAsLong();
        underWay = true;
    }

    /** The attempt has come to nothing; null where the other side closed the connection. */
    synchronized String failed(Throwable cause) {
        underWay = false;
        last = words(cause, clock.getAsLong() - begunNanos);
        return last;
    }

    /** A connection is made, on which nothing has been sent yet. */
    synchronized void connected(Channel channel) {
        roundTripMicros = RoundTrips.micros(channel);
    }

    /** Returns how far the peer is, in microseconds; 0 if that is not known, or it is on this host. */
    synchronized int roundTripMicros() {
        return roundTripMicros;
    }

    synchronized int attempts() {
        return attempts;
    }

    /** Returns how the last attempt ended, or that it is still without an answer. */
    synchronized String last() {
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
