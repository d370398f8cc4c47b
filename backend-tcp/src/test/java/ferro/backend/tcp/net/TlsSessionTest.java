package ferro.backend.tcp.net;

import static ferro.backend.tcp.mesh.Ranks.assertRefused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Two sides of TLS by hand, records moved between arrays; all pairs of providers. */
@ParameterizedClass(name = "{0} to {1}")
@MethodSource("providers")
class TlsSessionTest {
    private final TlsProvider accepting;
    private final TlsIdentity one;
    private final TlsIdentity other;
    private final TlsIdentity stranger;

    TlsSessionTest(TlsProvider connecting, TlsProvider accepting) {
        this.accepting = accepting;
        one = TlsIdentity.fresh("ferro://job/rank/0", connecting);
        other = TlsIdentity.fresh("ferro://job/rank/1", accepting);
        stranger = TlsIdentity.fresh("ferro://job/rank/1", accepting);
    }

    static Stream<Arguments> providers() {
        List<TlsProvider> there = Stream.of(TlsProvider.values())
                .filter(one -> one == TlsProvider.JDK || TlsProvider.missingOpenSsl() == null)
                .toList();
        return there.stream().flatMap(one -> there.stream().map(other -> Arguments.of(one, other)));
    }

    private static byte[] random(int bytes) {
        byte[] made = new byte[bytes];
        new Random(bytes).nextBytes(made);
        return made;
    }

    private static void flip(TlsSession from, int place, int bits) {
        ByteBuffer records = from.outgoing();
        int at = from.outgoingAt() + place;
        records.put(at, (byte) (records.get(at) ^ bits));
    }

    /** Moves bytes to the accepting side without telling the side that they come from. */
    private static void copy(TlsPair pair, int bytes) {
        pair.accepting
                .incoming()
                .put(pair.accepting.incomingAt(), pair.connecting.outgoing(), pair.connecting.outgoingAt(), bytes);
        pair.accepting.came(bytes);
    }

    @Test
    void bytesArriveInBothDirectionsInAnyNumber() throws IOException {
        TlsPair pair = TlsPair.of(one, other).shaken();

        for (int bytes : new int[] {1, 4, 16_383, 16_384, 16_385, TlsSession.BATCH_BYTES + 1, 3 << 20}) {
            assertArrayEquals(random(bytes), TlsPair.carried(pair.connecting, pair.accepting, random(bytes)));
            assertArrayEquals(random(bytes), TlsPair.carried(pair.accepting, pair.connecting, random(bytes)));
        }
    }

    @Test
    void aRecordDoesNotContainItsPlainText() throws IOException {
        TlsPair pair = TlsPair.of(one, other).shaken();
        byte[] told = "a tensor in the open".repeat(100).getBytes(java.nio.charset.StandardCharsets.US_ASCII);

        pair.connecting.seal(ByteBuffer.wrap(told), 0, told.length);

        String onTheWire = java.nio.charset.StandardCharsets.ISO_8859_1
                .decode(pair.connecting.outgoing())
                .toString();
        assertFalse(onTheWire.contains("tensor"), "found the bytes themselves");
    }

    @Test
    void anotherKeyIsRefusedByTheSideThatConnects() {
        TlsPair relayed = new TlsPair(
                one.session(true, other.fingerprint(), true), stranger.session(false, one.fingerprint(), true));

        assertRefused(SSLException.class, relayed::shaken, "another process is between");
        assertFalse(relayed.connecting.isOver());
    }

    @Test
    void anotherKeyIsRefusedByTheSideThatAccepts() {
        TlsPair relayed = new TlsPair(
                stranger.session(true, other.fingerprint(), true), other.session(false, one.fingerprint(), true));

        assertRefused(SSLException.class, relayed::shaken, "another process is between");
        assertFalse(relayed.accepting.isOver());
    }

    @Test
    void theRefusedSideReceivesAnAlert() throws IOException {
        TlsSession connecting = one.session(true, other.fingerprint(), true);
        TlsPair relayed = new TlsPair(connecting, stranger.session(false, one.fingerprint(), true));

        assertThrows(SSLException.class, relayed::shaken);
        TlsPair.move(connecting, relayed.accepting);

        SSLException told = assertThrows(SSLException.class, relayed.accepting::shake);
        assertTrue(TlsSession.isAlert(told) && TlsSession.isOfACertificate(told), told.getMessage());
    }

    @Test
    void eachSideChecksTheKeyOfEachConnectionTwice() throws IOException {
        for (int connection = 0; connection < 3; connection++) {
            TlsPair pair = TlsPair.of(one, other).shaken();

            assertEquals(List.of(2, 2), List.of(pair.connecting.checks(), pair.accepting.checks()));
        }
    }

    @Test
    @DisplayName("no ticket follows the handshake; that of BoringSSL is good for no other connection")
    void noTicketFollowsTheHandshake() throws IOException {
        assumeTrue(accepting == TlsProvider.JDK, "BoringSSL sends tickets that nobody can use");
        TlsPair pair = TlsPair.of(one, other).shaken();
        long before = pair.connecting.records();
        TlsPair.carried(pair.accepting, pair.connecting, random(1));

        assertEquals(before + 1, pair.connecting.records());
        assertEquals(0, pair.accepting.waiting());
    }

    @Test
    void aFlippedBitIsRefusedAndItsRecordIsDropped() throws IOException {
        for (int place : new int[] {0, 1, 5, 1000, 16_384}) {
            TlsPair pair = TlsPair.of(one, other).shaken();
            pair.connecting.seal(ByteBuffer.wrap(random(40_000)), 0, 40_000);
            flip(pair.connecting, place, 0x40);
            TlsPair.move(pair.connecting, pair.accepting);

            ByteBuffer result = ByteBuffer.allocate(40_000);
            assertThrows(SSLException.class, () -> pair.accepting.open(result, 0, 40_000), "at " + place);
            assertArrayEquals(new byte[40_000], result.array());
        }
    }

    @Test
    void recordsBeforeAWrongOneAreDelivered() throws IOException {
        TlsPair pair = TlsPair.of(one, other).shaken();
        pair.connecting.seal(ByteBuffer.wrap(random(20_000)), 0, 20_000);
        flip(pair.connecting, pair.connecting.waiting() - 1, 1);
        TlsPair.move(pair.connecting, pair.accepting);
        ByteBuffer result = ByteBuffer.allocate(20_000);

        assertEquals(TlsSession.SEALED_BYTES, pair.accepting.open(result, 0, 20_000));
        assertTrue(pair.accepting.ready());
        assertThrows(SSLException.class, () -> pair.accepting.open(result, TlsSession.SEALED_BYTES, 20_000));
    }

    @Test
    void aRepeatedRecordIsRefused() throws IOException {
        TlsPair pair = TlsPair.of(one, other).shaken();
        pair.connecting.seal(ByteBuffer.wrap(random(10)), 0, 10);
        for (int i = 0; i < 2; i++) {
            copy(pair, pair.connecting.waiting());
        }
        ByteBuffer result = ByteBuffer.allocate(20);

        assertEquals(10, pair.accepting.open(result, 0, 10));
        assertThrows(SSLException.class, () -> pair.accepting.open(result, 10, 20));
    }

    @Test
    void anIncompleteRecordIsNotDelivered() throws IOException {
        TlsPair pair = TlsPair.of(one, other).shaken();
        pair.connecting.seal(ByteBuffer.wrap(random(1000)), 0, 1000);
        copy(pair, pair.connecting.waiting() - 1);

        assertEquals(0, pair.accepting.open(ByteBuffer.allocate(1000), 0, 1000));
        assertEquals(1, pair.accepting.lacking());
    }

    @Test
    void bytesThatAreNotARecordAreRefusedByTheirHead() {
        TlsSession session = one.session(false, other.fingerprint(), true);
        byte[] http = "GET / HTTP/1.1\r\n".getBytes(java.nio.charset.StandardCharsets.US_ASCII);
        session.incoming().put(session.incomingAt(), http, 0, 5);
        session.came(5);

        assertRefused(SSLException.class, session::shake, "kind 71");
    }

    @Test
    void theCertificateNamesTheRankAndIsSelfSigned() throws Exception {
        one.certificate().verify(one.certificate().getPublicKey());

        assertEquals(
                "ferro://job/rank/0",
                one.certificate().getSubjectAlternativeNames().iterator().next().get(1));
    }
}
