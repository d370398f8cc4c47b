package ferro.backend.tcp.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.backend.tcp.net.TlsPair;
import ferro.backend.tcp.net.TlsProvider;
import ferro.backend.tcp.net.TlsSession;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Random;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TlsDataSocketTest {
    private static final int RECORD = TlsSession.SEALED_BYTES;
    /** Head, kind of content and tag of a record (RFC 8446, 5.2), and 16 bytes with which the JDK fills it up. */
    private static final int EXPANSION = 5 + 1 + 16 + 16;

    private final Random random = new Random(7);
    private final ByteBuffer shared = ByteBuffer.allocateDirect(ArraySocketCalls.MOST_BYTES);

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void bytesArriveUnchangedInPiecesOfAnySize(boolean takesLent) throws IOException {
        NarrowPipe pipe = new NarrowPipe(6_000_000, takesLent);
        TlsPair pair = TlsPair.fresh().shaken();
        TlsDataSocket sender = new TlsDataSocket(pipe, pair.connecting(), shared, Long.MAX_VALUE);
        TlsDataSocket receiver = new TlsDataSocket(pipe, pair.accepting(), shared, Long.MAX_VALUE);
        ByteBuffer sent = filled(5_000_001);
        ByteBuffer got = ByteBuffer.allocateDirect(sent.capacity());
        int written = 0;
        int read = 0;
        while (read < sent.capacity()) {
            pipe.room = random.nextInt(150_000);
            written += sender.write(sent, written, Math.min(sent.capacity(), written + ArraySocketCalls.MOST_BYTES));
            pipe.room = random.nextInt(300_000);
            read += receiver.read(got, read, Math.min(sent.capacity(), read + 1 + random.nextInt(400_000)));
        }
        assertEquals(sent, got);
        assertTrue(receiver.read(got, 0, 1) == 0 && !receiver.readable(), "more came than was sent");
        assertEquals(takesLent, pipe.lent > 0);
    }

    @Test
    void aClosedConnectionFreesTheMemoryOfItsEngine() throws IOException {
        for (TlsProvider provider : TlsProvider.values()) {
            assumeTrue(provider == TlsProvider.JDK || TlsProvider.missingOpenSsl() == null);
            TlsPair pair = TlsPair.of(provider).shaken();
            TlsDataSocket wire = new TlsDataSocket(new NarrowPipe(1, false), pair.connecting(), shared, Long.MAX_VALUE);
            wire.close();
            wire.close();
            if (provider == TlsProvider.OPENSSL) {
                assertThrows(
                        SSLException.class, () -> pair.connecting().seal(filled(1), 0, 1), "its engine is still there");
            }
        }
    }

    @Test
    void bytesAreReportedWrittenOnceTheKernelHasTheirWholeRecord() throws IOException {
        NarrowPipe pipe = new NarrowPipe(100_000, false);
        TlsPair pair = TlsPair.fresh().shaken();
        TlsDataSocket sender = new TlsDataSocket(pipe, pair.connecting(), shared, Long.MAX_VALUE);
        TlsDataSocket receiver = new TlsDataSocket(pipe, pair.accepting(), shared, Long.MAX_VALUE);
        ByteBuffer sent = filled(100);
        ByteBuffer got = ByteBuffer.allocateDirect(100);

        pipe.room = 99;
        assertEquals(0, sender.write(sent, 0, 100));
        pipe.room = 99;
        assertEquals(0, receiver.read(got, 0, 100));
        assertFalse(receiver.readable(), "a part of a record is nothing to hand on");
        pipe.room = 1_000;
        assertEquals(100, sender.write(sent, 0, 100));
        pipe.room = 1_000;
        assertEquals(100, receiver.read(got, 0, 100));
        assertEquals(sent, got);
    }

    @Test
    void eachRecordOfABatchIsCountedAlone() throws IOException {
        NarrowPipe pipe = new NarrowPipe(200_000, false);
        TlsPair pair = TlsPair.fresh().shaken();
        TlsDataSocket sender = new TlsDataSocket(pipe, pair.connecting(), shared, Long.MAX_VALUE);
        TlsDataSocket receiver = new TlsDataSocket(pipe, pair.accepting(), shared, Long.MAX_VALUE);
        ByteBuffer sent = filled(100_000);
        ByteBuffer got = ByteBuffer.allocateDirect(100_000);
        int three = 3 * RECORD;

        pipe.room = three + 3 * EXPANSION + 50;
        assertEquals(three, sender.write(sent, 0, 100_000));
        pipe.room = 200_000;
        assertEquals(three, receiver.read(got, 0, 100_000), "what is counted, and no more");
        pipe.room = 200_000;
        assertEquals(100_000 - three, sender.write(sent, three, 100_000));
        pipe.room = 200_000;
        assertEquals(100_000 - three, receiver.read(got, three, 100_000));
        assertEquals(sent, got);
    }

    @Test
    void sentRecordsAreCountedIfTheConnectionEndsInTheMiddle() throws IOException {
        NarrowPipe pipe = new NarrowPipe(200_000, false);
        TlsDataSocket sender = new TlsDataSocket(pipe, TlsPair.fresh().shaken().connecting(), shared, Long.MAX_VALUE);
        ByteBuffer sent = filled(100_000);
        pipe.room = 2 * (RECORD + EXPANSION) + 100;
        pipe.endsWhenFull = true;

        assertEquals(2 * RECORD, sender.write(sent, 0, 100_000));
        IOException ended = assertThrows(IOException.class, () -> sender.write(sent, 2 * RECORD, 100_000));
        assertTrue(ended.getMessage().contains("no room after "), ended.getMessage());
    }

    @Test
    void aChangedByteEndsTheConnectionAndItsRecordIsDropped() throws IOException {
        NarrowPipe pipe = new NarrowPipe(100_000, false);
        TlsPair pair = TlsPair.fresh().shaken();
        TlsDataSocket sender = new TlsDataSocket(pipe, pair.connecting(), shared, Long.MAX_VALUE);
        pipe.room = 100_000;
        sender.write(filled(40_000), 0, 40_000);
        pipe.bytes[20_000] ^= 1;
        TlsDataSocket receiver = new TlsDataSocket(pipe, pair.accepting(), shared, Long.MAX_VALUE);
        ByteBuffer got = ByteBuffer.allocateDirect(40_000);
        pipe.room = 100_000;

        assertEquals(RECORD, receiver.read(got, 0, 40_000), "the record in front");
        assertTrue(receiver.readable());
        assertThrows(CheckedDataSocket.CorruptDataException.class, () -> receiver.read(got, 0, 40_000));
        assertThrows(CheckedDataSocket.CorruptDataException.class, () -> receiver.read(got, 0, 40_000), "and stays so");
        assertTrue(pipe.closed, "the connection is still open");
    }

    private ByteBuffer filled(int count) {
        byte[] bytes = new byte[count];
        random.nextBytes(bytes);
        return ByteBuffer.allocateDirect(count).put(0, bytes);
    }
}
