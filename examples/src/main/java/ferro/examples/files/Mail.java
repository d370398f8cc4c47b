package ferro.examples.files;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Queue;

/** Control messages to and from one peer, each with its length in front. */
final class Mail {
    private final Ring outgoing;
    private final Ring incoming;
    /** What the ring had no room for: whoever sends never waits. */
    private final Queue<ByteBuffer> unsent = new ArrayDeque<>();

    Mail(Ring outgoing, Ring incoming) {
        this.outgoing = outgoing;
        this.incoming = incoming;
    }

    /** Copies a message and sends it now or later; any thread. */
    synchronized void send(ByteBuffer message) {
        int bytes = Integer.BYTES + message.remaining();
        ByteBuffer letter = ByteBuffer.allocate(bytes).order(ByteOrder.nativeOrder());
        unsent.add(letter.putInt(message.remaining()).put(message.duplicate()).flip());
        push();
    }

    /** Sends what there is room for, in order; any thread. */
    synchronized void push() {
        while (!unsent.isEmpty() && outgoing.room() >= unsent.element().limit()) {
            outgoing.put(unsent.element(), unsent.remove().limit());
        }
    }

    /** Returns the next message, or null; one thread at a time. */
    ByteBuffer next() {
        if (incoming.came() == 0) {
            return null;
        }
        // a message is put in whole
        ByteBuffer length = ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.nativeOrder());
        incoming.take(length, Integer.BYTES);
        ByteBuffer message = ByteBuffer.allocate(length.getInt(0));
        incoming.take(message, message.capacity());
        return message;
    }
}
