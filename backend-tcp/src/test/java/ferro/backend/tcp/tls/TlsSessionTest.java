package ferro.backend.tcp.tls;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Random;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.Test;

/** Two sides of TLS by hand, records moved between arrays. */
class TlsSessionTest {
    private static final TlsIdentity ONE = TlsIdentity.fresh("ferro://job/rank/0");
    private static final TlsIdentity OTHER = TlsIdentity.fresh("ferro://job/rank/1");
    private static final TlsIdentity STRANGER = TlsIdentity.fresh("ferro://job/rank/1");

    private static byte[] random(int bytes) {
        byte[] made = new byte[bytes];
        new Random(bytes).nextBytes(made);
        return made;
    }

    @Test
    void bytesArriveInBothDirectionsInAnyNumber() throws IOException {
        TlsPair pair = TlsPair.of(ONE, OTHER).shaken();

        for (int bytes : new int[] {1, 4, 16_383, 16_384, 16_385, TlsSession.BATCH_BYTES + 1, 3 << 20}) {
            assertArrayEquals(random(bytes), TlsPair.carried(pair.connecting, pair.accepting, random(bytes)));
            assertArrayEquals(random(bytes), TlsPair.carried(pair.accepting, pair.connecting, random(bytes)));
        }
    }

    @Test
    void noRecordHoldsTheBytesThatItCarries() throws IOException {
        TlsPair pair = TlsPair.of(ONE, OTHER).shaken();
        byte[] told = "a tensor in the open".repeat(100).getBytes(java.nio.charset.StandardCharsets.US_ASCII);

        pair.connecting.seal(ByteBuffer.wrap(told), 0, told.length);

        String onTheWire = new String(pair.connecting.outgoing(), java.nio.charset.StandardCharsets.ISO_8859_1);
        assertFalse(onTheWire.contains("tensor"), "found the bytes themselves");
    }

    @Test
    void anotherKeyIsRefusedByTheSideThatConnects() {
        TlsPair relayed =
                new TlsPair(ONE.session(true, OTHER.fingerprint()), STRANGER.session(false, ONE.fingerprint()));

        IOException refused = assertThrows(SSLException.class, relayed::shaken);

        assertTrue(refused.getMessage().contains("another process is between"), refused.getMessage());
        assertFalse(relayed.connecting.isOver());
    }

    @Test
    void anotherKeyIsRefusedByTheSideThatAccepts() {
        TlsPair relayed =
                new TlsPair(STRANGER.session(true, OTHER.fingerprint()), OTHER.session(false, ONE.fingerprint()));

        IOException refused = assertThrows(SSLException.class, relayed::shaken);

        assertTrue(refused.getMessage().contains("another process is between"), refused.getMessage());
        assertFalse(relayed.accepting.isOver());
    }

    @Test
    void theSideThatIsRefusedLearnsOfItByAnAlert() throws IOException {
        TlsSession connecting = ONE.session(true, OTHER.fingerprint());
        TlsPair relayed = new TlsPair(connecting, STRANGER.session(false, ONE.fingerprint()));

        assertThrows(SSLException.class, relayed::shaken);
        TlsPair.move(connecting, relayed.accepting);

        SSLException told = assertThrows(SSLException.class, relayed.accepting::shake);
        assertTrue(told.getMessage().contains("alert"), told.getMessage());
    }

    @Test
    void everyConnectionOfTwoProcessesChecksTheKeyTwiceOnEachSide() throws IOException {
        for (int connection = 0; connection < 3; connection++) {
            TlsPair pair = TlsPair.of(ONE, OTHER).shaken();

            assertEquals(List.of(2, 2), List.of(pair.connecting.checks(), pair.accepting.checks()));
        }
    }

    @Test
    void noTicketFollowsTheHandshake() throws IOException {
        TlsPair pair = TlsPair.of(ONE, OTHER).shaken();
        TlsPair.carried(pair.accepting, pair.connecting, random(1));

        // the records of the handshake, and one with the byte
        assertEquals(4, pair.connecting.records());
        assertEquals(0, pair.accepting.waiting());
    }

    @Test
    void aFlippedBitIsRefusedAndNothingOfItsRecordIsHandedOn() throws IOException {
        for (int place : new int[] {0, 1, 5, 1000, 16_384}) {
            TlsPair pair = TlsPair.of(ONE, OTHER).shaken();
            pair.connecting.seal(ByteBuffer.wrap(random(40_000)), 0, 40_000);
            pair.connecting.outgoing()[pair.connecting.outgoingAt() + place] ^= 0x40;
            TlsPair.move(pair.connecting, pair.accepting);

            ByteBuffer result = ByteBuffer.allocate(40_000);
            assertThrows(SSLException.class, () -> pair.accepting.open(result, 0, 40_000), "at " + place);
            assertArrayEquals(new byte[40_000], result.array());
        }
    }

    @Test
    void whatCameBeforeAWrongRecordIsHandedOnFirst() throws IOException {
        TlsPair pair = TlsPair.of(ONE, OTHER).shaken();
        pair.connecting.seal(ByteBuffer.wrap(random(20_000)), 0, 20_000);
        pair.connecting.outgoing()[pair.connecting.outgoingAt() + pair.connecting.waiting() - 1] ^= 1;
        TlsPair.move(pair.connecting, pair.accepting);
        ByteBuffer result = ByteBuffer.allocate(20_000);

        assertEquals(TlsSession.SEALED_BYTES, pair.accepting.open(result, 0, 20_000));
        assertTrue(pair.accepting.ready());
        assertThrows(SSLException.class, () -> pair.accepting.open(result, TlsSession.SEALED_BYTES, 20_000));
    }

    @Test
    void aRecordThatComesTwiceIsRefused() throws IOException {
        TlsPair pair = TlsPair.of(ONE, OTHER).shaken();
        pair.connecting.seal(ByteBuffer.wrap(random(10)), 0, 10);
        for (int i = 0; i < 2; i++) {
            System.arraycopy(
                    pair.connecting.outgoing(),
                    pair.connecting.outgoingAt(),
                    pair.accepting.incoming(),
                    pair.accepting.incomingAt(),
                    pair.connecting.waiting());
            pair.accepting.came(pair.connecting.waiting());
        }
        ByteBuffer result = ByteBuffer.allocate(20);

        assertEquals(10, pair.accepting.open(result, 0, 10));
        assertThrows(SSLException.class, () -> pair.accepting.open(result, 10, 20));
    }

    @Test
    void aRecordThatIsCutIsNeverHandedOn() throws IOException {
        TlsPair pair = TlsPair.of(ONE, OTHER).shaken();
        pair.connecting.seal(ByteBuffer.wrap(random(1000)), 0, 1000);
        int cut = pair.connecting.waiting() - 1;
        System.arraycopy(
                pair.connecting.outgoing(),
                pair.connecting.outgoingAt(),
                pair.accepting.incoming(),
                pair.accepting.incomingAt(),
                cut);
        pair.accepting.came(cut);

        assertEquals(0, pair.accepting.open(ByteBuffer.allocate(1000), 0, 1000));
        assertEquals(1, pair.accepting.lacking());
    }

    @Test
    void whatIsNoRecordIsRefusedByItsHead() {
        TlsSession session = ONE.session(false, OTHER.fingerprint());
        byte[] http = "GET / HTTP/1.1\r\n".getBytes(java.nio.charset.StandardCharsets.US_ASCII);
        System.arraycopy(http, 0, session.incoming(), session.incomingAt(), 5);
        session.came(5);

        SSLException refused = assertThrows(SSLException.class, session::shake);
        assertTrue(refused.getMessage().contains("kind 71"), refused.getMessage());
    }

    @Test
    void theCertificateNamesTheRankAndIsSignedByItsOwnKey() throws Exception {
        ONE.certificate().verify(ONE.certificate().getPublicKey());

        assertEquals(
                "ferro://job/rank/0",
                ONE.certificate().getSubjectAlternativeNames().iterator().next().get(1));
    }
}
