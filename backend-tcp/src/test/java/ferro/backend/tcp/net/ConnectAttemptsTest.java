package ferro.backend.tcp.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** What is known of a peer after one attempt has followed another. */
class ConnectAttemptsTest {
    private static final InetSocketAddress LOOPBACK = at("127.0.0.1");
    private static final InetSocketAddress LOOPBACK_BY_IPV6 = at("::1");
    private static final InetSocketAddress PEER = at("10.0.0.1");
    private static final InetSocketAddress PEER_BY_IPV6 = at("fd00::1");
    private static final ConnectException REFUSED = new ConnectException("Connection refused");
    private static final ConnectException UNREACHABLE = new ConnectException("Network is unreachable");
    private static final IOException NO_ADDRESS = new IOException("error(-99): Cannot assign requested address");

    private final AtomicLong clock = new AtomicLong();
    private final ConnectAttempts notes = new ConnectAttempts(clock::get);

    private static InetSocketAddress at(String host) {
        return new InetSocketAddress(AddressLookup.literal(host), 1);
    }

    private void fails(InetSocketAddress to, Exception why) {
        notes.begun(to);
        notes.failed(to, why);
    }

    private void connects(InetSocketAddress to) {
        notes.begun(to);
        notes.connected(to, new EmbeddedChannel());
    }

    private void passes(long millis) {
        clock.addAndGet(TimeUnit.MILLISECONDS.toNanos(millis));
    }

    @Test
    void aSuccessfulConnectionReplacesAnEarlierRefusal() {
        fails(LOOPBACK, REFUSED);
        assertFalse(notes.reached());
        connects(LOOPBACK);
        passes(3_000);

        assertEquals(
                "connected, but received nothing in 3 s: does another program listen there, or is its process stopped or"
                        + " without a core?",
                notes.last());
        assertTrue(notes.reached());
        assertFalse(notes.hasEnded());
    }

    @Test
    void aHandshakeThatStopsHalfwayIsDescribedAsPartlyReceived() {
        connects(LOOPBACK);
        passes(1_000);
        notes.answered(LOOPBACK);
        passes(2_000);
        String stopped = "connected, but received nothing more in 2 s: is its process stopped or without a core?";

        assertEquals(stopped, notes.last());
        assertEquals(stopped, notes.failed(LOOPBACK, new TimeoutException("late")));
        connects(LOOPBACK);
        notes.answered(LOOPBACK);
        assertEquals(
                "connected, but the other side closed the connection in the handshake", notes.failed(LOOPBACK, null));
    }

    @Test
    void noCauseIsNamedBeforeTwoSecondsOfSilence() {
        connects(LOOPBACK);
        passes(1_900);
        assertEquals("connected, no answer yet after 1.9 s", notes.last());
        notes.answered(LOOPBACK);
        passes(200);
        assertEquals("connected, no answer yet after 0.2 s", notes.last());

        assertEquals(
                "connected, but received nothing more in 0.2 s", notes.failed(LOOPBACK, new TimeoutException("late")));
        connects(LOOPBACK);
        passes(1_800);

        assertTrue(notes.last().startsWith("connected, but received nothing in 1.8 s: does another"), notes.last());
    }

    @Test
    void anAddressThatRefusesOrAcceptsIsNotSilent() {
        notes.begun(PEER);
        passes(1_900);
        assertEquals("no answer in 1.9 s", notes.last());
        connects(PEER);
        passes(100);
        assertEquals("connected, no answer yet after 0.1 s", notes.last());

        passes(1_900);
        notes.failed(PEER, new TimeoutException("late"));
        fails(PEER, REFUSED);
        connects(PEER);
        assertEquals("connected, no answer yet after 0 s", notes.last());
    }

    @Test
    void aPeerWhosePortRefusesIsNoLongerReached() {
        connects(PEER);
        notes.failed(PEER, null);
        assertTrue(notes.reached());
        assertTrue(notes.hasEnded());

        fails(PEER, REFUSED);

        assertEquals("refused: nothing listens there", notes.last());
        assertFalse(notes.reached());
        assertTrue(notes.hasConnected());
    }

    @Test
    void aPeerStaysReachedDuringAnotherAttempt() {
        connects(PEER);
        notes.failed(PEER, new TimeoutException("late"));
        notes.begun(PEER);

        assertTrue(notes.reached());
        notes.failed(PEER, new ConnectTimeoutException("silent"));
        assertFalse(notes.reached());
    }

    @Test
    void attemptsThatAConnectionCutsShortAreNotDescribed() {
        notes.round(List.of(PEER_BY_IPV6, PEER));
        notes.begun(PEER_BY_IPV6);
        passes(250);
        connects(PEER);
        passes(2_000);
        assertTrue(notes.last().startsWith("10.0.0.1:1: connected, but received nothing in 2 s: "), notes.last());

        notes.failed(PEER, null);
        assertEquals("10.0.0.1:1: connected, but the other side closed the connection and sent nothing", notes.last());

        notes.round(List.of(PEER));
        fails(PEER, REFUSED);
        assertEquals("refused: nothing listens there", notes.last());
    }

    @Test
    void loopbackIsDownIfAllItsAddressesAreUnreachable() {
        fails(LOOPBACK_BY_IPV6, NO_ADDRESS);
        assertFalse(notes.isLoopbackDown());
        notes.begun(LOOPBACK);
        notes.failed(LOOPBACK, UNREACHABLE);
        assertTrue(notes.isLoopbackDown());

        fails(LOOPBACK, REFUSED);
        assertFalse(notes.isLoopbackDown());
        fails(LOOPBACK, UNREACHABLE);
        fails(LOOPBACK_BY_IPV6, REFUSED);
        assertFalse(notes.isLoopbackDown());
    }
}
