package ferro.backend.tcp.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class CheckedDataSocketTest {
    private final Random random = new Random(7);

    @Test
    void bytesArriveUnchangedInPiecesOfAnySize() throws IOException {
        NarrowPipe pipe = new NarrowPipe(500_000, false);
        CheckedDataSocket sender = new CheckedDataSocket(pipe);
        CheckedDataSocket receiver = new CheckedDataSocket(pipe);
        ByteBuffer sent = filled(200_001);
        ByteBuffer got = ByteBuffer.allocateDirect(sent.capacity());
        int written = 0;
        int read = 0;
        while (read < sent.capacity()) {
            pipe.room = random.nextInt(9_000);
            written += sender.write(sent, written, Math.min(sent.capacity(), written + 100_000));
            pipe.room = random.nextInt(9_000);
            read += receiver.read(got, read, Math.min(sent.capacity(), read + 1 + random.nextInt(70_000)));
        }
        assertEquals(sent, got);
        assertTrue(receiver.read(got, 0, 1) == 0 && !receiver.readable(), "more came than was sent");
    }

    @Test
    @DisplayName("row 34: a bit that flips anywhere, in heads too, is found, and nothing of its record is handed on")
    void aFlippedBitIsDetectedAndItsRecordIsDropped() throws IOException {
        int body = 40;
        int record = CheckedDataSocket.HEAD_BYTES + body;
        for (int bit = 0; bit < 2 * record * 8; bit++) {
            NarrowPipe pipe = new NarrowPipe(2 * record, false);
            pipe.room = Integer.MAX_VALUE;
            CheckedDataSocket sender = new CheckedDataSocket(pipe);
            ByteBuffer sent = filled(2 * body);
            sender.write(sent, 0, body);
            sender.write(sent, body, 2 * body);
            pipe.bytes[bit / 8] ^= (byte) (1 << bit % 8);

            CheckedDataSocket receiver = new CheckedDataSocket(pipe);
            ByteBuffer got = ByteBuffer.allocateDirect(2 * body);
            if (bit / 8 >= record) {
                assertEquals(body, receiver.read(got, 0, 2 * body), "the record in front");
                assertEquals(sent.slice(0, body), got.slice(0, body));
            }
            assertThrows(
                    CheckedDataSocket.CorruptDataException.class, () -> receiver.read(got, 0, 2 * body), "bit " + bit);
            assertThrows(
                    CheckedDataSocket.CorruptDataException.class,
                    () -> receiver.read(got, 0, 2 * body),
                    "and stays so");
            assertTrue(pipe.closed, "the connection is still open");
        }
    }

    @Test
    @DisplayName("row 34: a record that is lost, or comes twice, is found")
    void aLostOrRepeatedRecordIsDetected() throws IOException {
        int record = CheckedDataSocket.HEAD_BYTES + 3;
        for (boolean twice : new boolean[] {true, false}) {
            NarrowPipe pipe = new NarrowPipe(3 * record, false);
            pipe.room = Integer.MAX_VALUE;
            CheckedDataSocket sender = new CheckedDataSocket(pipe);
            for (int i = 0; i < 2; i++) {
                sender.write(filled(3), 0, 3);
            }
            // the first comes twice, or not at all
            System.arraycopy(pipe.bytes, twice ? 0 : record, pipe.bytes, twice ? record : 0, record);
            CheckedDataSocket receiver = new CheckedDataSocket(pipe);
            ByteBuffer got = ByteBuffer.allocateDirect(6);

            if (twice) {
                assertEquals(3, receiver.read(got, 0, 6));
            }
            assertThrows(CheckedDataSocket.CorruptDataException.class, () -> receiver.read(got, 3, 6));
        }
    }

    private ByteBuffer filled(int count) {
        byte[] bytes = new byte[count];
        random.nextBytes(bytes);
        return ByteBuffer.allocateDirect(count).put(0, bytes);
    }
}
