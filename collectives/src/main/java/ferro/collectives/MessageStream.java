package ferro.collectives;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.Consumer;

/**
 * A stream of control messages to and from one peer, over any medium that moves bytes in order. The length of a
 * message, in native byte order, precedes the message. A medium uses a stream for {@link ferro.spi.Transport#control}.
 * The medium moves the messages on its background thread, independently of the links.
 */
public final class MessageStream {
    /** Maximum length of a message. */
    public static final int BYTES_MOST = 4096;

    private final StagedLink.Sink outgoing;
    private final StagedLink.Source incoming;
    /** Messages that the medium could not take yet, kept so that the sender never waits. */
    private final Queue<ByteBuffer> unsent = new ArrayDeque<>();

    private final ByteBuffer length = ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.nativeOrder());
    /** The part of a message that has arrived; null between messages. */
    private ByteBuffer message;
    /** Whether a message had an invalid length, so that the start of the next message is unknown. */
    private boolean torn;

    /**
     * Makes a stream on which nothing has been sent.
     *
     * @param outgoing bytes to the peer
     * @param incoming bytes from the peer
     */
    public MessageStream(StagedLink.Sink outgoing, StagedLink.Source incoming) {
        this.outgoing = outgoing;
        this.incoming = incoming;
    }

    /**
     * Copies a message and sends it as soon as the medium can take it. Any thread may call this method, which never
     * waits.
     *
     * @param bytes at most {@link #BYTES_MOST}
     * @throws IllegalArgumentException if the message is longer
     */
    public synchronized void send(ByteBuffer bytes) {
        int count = bytes.remaining();
        if (count > BYTES_MOST) {
            throw new IllegalArgumentException("a message of " + count + " bytes: need at most " + BYTES_MOST);
        }
        ByteBuffer copy = ByteBuffer.allocate(Integer.BYTES + count).order(ByteOrder.nativeOrder());
        unsent.add(copy.putInt(count).put(bytes.duplicate()).flip());
        push();
    }

    /**
     * Sends as much as the medium can take now, and passes the messages that have arrived to a receiver. One thread at
     * a time may call this method.
     *
     * @param receiver called with each message, in order
     * @return whether any message has arrived
     * @throws IllegalStateException if a message has an invalid length; thrown once, and no later message is passed on
     */
    public boolean move(Consumer<ByteBuffer> receiver) {
        push();
        boolean any = false;
        for (ByteBuffer next = next(); next != null; next = next()) {
            receiver.accept(next);
            any = true;
        }
        return any;
    }

    private synchronized void push() {
        while (!unsent.isEmpty() && outgoing.free() > 0) {
            ByteBuffer first = unsent.element();
            int bytes = Math.min(outgoing.free(), first.remaining());
            outgoing.put(first.slice(), bytes);
            first.position(first.position() + bytes);
            if (!first.hasRemaining()) {
                unsent.remove();
            }
        }
    }

    /** Returns the next message if it has arrived completely, else null. */
    private ByteBuffer next() {
        if (message == null && !torn && isFilled(length)) {
            message = ByteBuffer.allocate(checked(length.clear().getInt(0)));
        }
        if (message == null || !isFilled(message)) {
            return null;
        }
        ByteBuffer whole = message.flip();
        message = null;
        return whole;
    }

    private boolean isFilled(ByteBuffer part) {
        int bytes = Math.min(incoming.came(), part.remaining());
        if (bytes > 0) {
            incoming.take(part.slice(), bytes);
            part.position(part.position() + bytes);
        }
        return !part.hasRemaining();
    }

    private int checked(int bytes) {
        torn = bytes < 0 || bytes > BYTES_MOST;
        if (torn) {
            throw new IllegalStateException("a message of " + bytes + " bytes arrived: need 0 to " + BYTES_MOST);
        }
        return bytes;
    }
}
