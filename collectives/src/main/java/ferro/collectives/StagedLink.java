package ferro.collectives;

import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.link.PostRing;
import ferro.collectives.link.WireHeader;
import ferro.collectives.reduce.KernelCache;
import ferro.collectives.reduce.TypedViews;
import ferro.spi.CallHeader;
import ferro.spi.Link;
import ferro.spi.Transport;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A link over any medium that moves bytes in order. The medium returns how many bytes it can take and how many bytes
 * have arrived. The medium moves bytes from and to one staging memory, through which all elements pass. A staged link
 * suits a medium for which one more copy of the data does not matter.
 *
 * <p>A send is finished when the medium has taken its last byte. The link takes bytes from the medium only if a receive
 * is posted for these bytes. If an unexpected header arrives, the link calls {@link Transport.Events#mismatched}, and
 * moves no more bytes.
 *
 * <p>Only the thread that makes progress on the transport may use a staged link.
 */
public final class StagedLink implements Link {
    private final int peer;
    private final Sink outgoing;
    private final Source incoming;
    private final Staging staging;
    private final Transport.Events events;
    private final PostRing sends = new PostRing();
    private final PostRing receives = new PostRing();
    private long bytesMoved;
    private boolean dead;

    /** The outgoing direction of a medium, to which a link writes bytes. */
    public interface Sink {
        /**
         * {@return how many bytes the medium can take now; at least 16, the size of a header, if the peer has taken all
         * earlier bytes}
         */
        int free();

        /**
         * Takes bytes.
         *
         * @param from  buffer whose first bytes are taken
         * @param bytes number of bytes, at most {@link #free}
         */
        void put(ByteBuffer from, int bytes);
    }

    /** The incoming direction of a medium, from which a link reads bytes. */
    public interface Source {
        /** {@return how many bytes have arrived and can be read now} */
        int came();

        /**
         * Copies bytes that have arrived into a buffer.
         *
         * @param into  buffer whose first bytes are written
         * @param bytes number of bytes, at most {@link #came}
         */
        void take(ByteBuffer into, int bytes);
    }

    /**
     * The memory through which elements pass, and the kernels that combine elements from this memory. All links of a
     * transport share one staging object.
     */
    public static final class Staging {
        private final ByteBuffer bytes;
        private final TypedViews elements;
        private final KernelCache kernels;

        /**
         * Makes the staging memory of a transport.
         *
         * @param capacity  size of the memory in bytes, for example 65536
         * @param worldSize number of ranks of the transport; averages are divided by this number
         * @throws IllegalArgumentException if a header does not fit into the memory
         */
        public Staging(int capacity, int worldSize) {
            if (capacity < WireHeader.BYTES) {
                throw new IllegalArgumentException(
                        "staging of " + capacity + " bytes is too small for a header of " + WireHeader.BYTES);
            }
            bytes = ByteBuffer.allocateDirect(capacity).order(ByteOrder.nativeOrder());
            elements = new TypedViews(bytes);
            kernels = new KernelCache(worldSize);
        }
    }

    /**
     * Makes a link on which nothing is posted.
     *
     * @param peer     rank at the other end of the link
     * @param outgoing bytes to the peer
     * @param incoming bytes from the peer
     * @param staging  staging memory of the transport
     * @param events   is notified if a header does not match
     */
    public StagedLink(int peer, Sink outgoing, Source incoming, Staging staging, Transport.Events events) {
        this.peer = peer;
        this.outgoing = outgoing;
        this.incoming = incoming;
        this.staging = staging;
        this.events = events;
    }

    @Override
    public void send(CallHeader call, HostTensor data, long from, long count) {
        if (!dead) {
            sends.add(call, data, from, count);
        }
    }

    @Override
    public void receive(CallHeader call, HostTensor into, long from, long count) {
        if (!dead) {
            receives.add(call, into, from, count);
        }
    }

    @Override
    public void receiveCombine(CallHeader call, HostTensor into, long from, long count, ReduceOp op) {
        if (!dead) {
            receives.add(call, into, from, count, staging.kernels.of(into.dataType(), op));
        }
    }

    @Override
    public long sent() {
        return sends.finished();
    }

    @Override
    public long received() {
        return receives.finished();
    }

    @Override
    public long bytesMoved() {
        return bytesMoved;
    }

    /**
     * Moves as many bytes as can move now, in both directions. {@link Transport#poll} calls this method.
     *
     * @return whether any byte moved
     */
    public boolean move() {
        boolean moved = false;
        while (push() | pull()) {
            moved = true;
        }
        return moved;
    }

    /**
     * Returns whether a pending post can still move.
     *
     * @return false after {@link #drop}, or after an unexpected header has arrived
     */
    public boolean isBusy() {
        return !dead && !(sends.isEmpty() && receives.isEmpty());
    }

    /** {@return the sequence of the call whose data the link waits for; 0 if no receive is posted} */
    public long waitsFor() {
        return receives.sequence();
    }

    /**
     * Describes the progress of the posts, for a message.
     *
     * @return progress as a text
     */
    public String progress() {
        return PostRing.progress(receives, 0, sends);
    }

    /** Drops all posts at once, so that the link no longer uses their memory. Later posts are ignored. Idempotent. */
    public void drop() {
        dead = true;
        sends.clear();
        receives.clear();
    }

    private boolean push() {
        int bytes = dead ? 0 : sends.write(staging.elements, 0, Math.min(outgoing.free(), staging.bytes.capacity()));
        if (bytes > 0) {
            outgoing.put(staging.bytes, bytes);
            sends.advance(bytes);
            bytesMoved += bytes;
        }
        return bytes > 0;
    }

    private boolean pull() {
        int bytes = dead ? 0 : receives.piece(Math.min(incoming.came(), staging.bytes.capacity()));
        if (bytes > 0) {
            incoming.take(staging.bytes, bytes);
            if (receives.read(staging.elements, 0, bytes) == 0) {
                // after an unexpected header, the call of the elements is unknown
                dead = true;
                events.mismatched(peer, receives.oldest().call(), receives.unexpectedHeader());
                return false;
            }
            receives.advance(bytes);
            bytesMoved += bytes;
        }
        return bytes > 0;
    }
}
