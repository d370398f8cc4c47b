package ferro.collectives;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two ends of a stream over queues of bytes that take only a few at once. */
class MessageStreamTest {
    private final List<String> heard = new ArrayList<>();

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }

    private void hear(ByteBuffer message) {
        heard.add(StandardCharsets.UTF_8.decode(message).toString());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 7, 4096, 5000})
    void messagesArriveCompleteAndInOrderInPiecesOfAnySize(int window) {
        Pipe there = new Pipe(window);
        Pipe back = new Pipe(window);
        MessageStream sender = new MessageStream(there, back);
        MessageStream receiver = new MessageStream(back, there);
        String longest = "x".repeat(MessageStream.BYTES_MOST);
        List<String> sent = List.of("first", "", longest, "last");

        sent.forEach(text -> sender.send(bytes(text)));
        receiver.send(bytes("answer"));
        for (int i = 0; i < 2 * MessageStream.BYTES_MOST && heard.size() < sent.size(); i++) {
            receiver.move(this::hear);
            sender.move(answer -> {});
        }

        assertEquals(sent, heard);
    }

    @Test
    void moveReturnsWhetherAMessageHasArrived() {
        Pipe pipe = new Pipe(9);
        MessageStream stream = new MessageStream(pipe, pipe);
        assertFalse(stream.move(this::hear));
        stream.send(bytes("first"));
        assertTrue(stream.move(this::hear));
        assertFalse(stream.move(this::hear));
    }

    /** The caller may use its buffer again at once. */
    @Test
    void aMessageIsCopiedAndItsBufferStaysUnchanged() {
        Pipe pipe = new Pipe(2);
        MessageStream stream = new MessageStream(pipe, pipe);
        byte[] array = {'a', 'b', 'c', 'd'};
        ByteBuffer given = ByteBuffer.wrap(array, 1, 2);
        stream.send(given);
        assertEquals(2, given.remaining());
        array[1] = 'z';
        for (int i = 0; i < 6; i++) {
            stream.move(this::hear);
        }
        assertEquals(List.of("bc"), heard);
    }

    @Test
    void aMessageThatIsTooLongIsRefused() {
        Pipe pipe = new Pipe(5000);
        MessageStream stream = new MessageStream(pipe, pipe);
        ByteBuffer longer = ByteBuffer.allocate(MessageStream.BYTES_MOST + 1);
        assertTrue(assertThrows(IllegalArgumentException.class, () -> stream.send(longer))
                .getMessage()
                .startsWith("a message of 4097 bytes"));
    }

    /** Behind a wrong length nobody knows where a message begins. */
    @ParameterizedTest
    @ValueSource(ints = {-1, MessageStream.BYTES_MOST + 1})
    void aWrongLengthIsReportedOnceAndEndsTheStream(int length) {
        Pipe pipe = new Pipe(5000);
        MessageStream stream = new MessageStream(pipe, pipe);
        ByteBuffer wrong = ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.nativeOrder());
        pipe.put(wrong.putInt(0, length), Integer.BYTES);
        stream.send(bytes("behind"));

        String refused = assertThrows(IllegalStateException.class, () -> stream.move(this::hear))
                .getMessage();

        assertTrue(refused.startsWith("a message of " + length + " bytes arrived"), refused);
        assertFalse(stream.move(this::hear));
        assertEquals(List.of(), heard);
    }
}
