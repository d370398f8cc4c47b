package ferro.collectives.link;

import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.collectives.reduce.KeptKernels;
import ferro.spi.CallHeader;
import ferro.spi.Link;
import ferro.spi.Transport;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A link over any medium that moves bytes in order. The medium tells how many bytes it can take and how many have come, and
 * moves them from and to one memory, through which all elements pass. It serves a medium for which one more copy does not
 * matter.
 *
 * <p>A send is finished when the medium has taken its last byte. Only bytes for which a receive is posted are taken from the
 * medium. If an unexpected header comes, {@link Transport.Events#mismatched} is called, and nothing moves any more.
 *
 * <p>Belongs to the thread that makes progress on the transport.
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

    /** Where the bytes of a link go. */
    public interface Sink {
        /**
         * Returns how many bytes it would take now.
         *
         * @return bytes; at least {@link WireHeader#BYTES} once its peer has taken all
         */
        int room();

        /**
         * Takes bytes.
         *
         * @param from  the bytes, at its beginning
         * @param bytes at most {@link #room}
         */
        void put(ByteBuffer from, int bytes);
    }

    /** Where the bytes of a link come from. */
    public interface Source {
        /**
         * Returns how many bytes have come.
         *
         * @return bytes that can be taken now
         */
        int came();

        /**
         * Hands over bytes.
         *
         * @param into  where they belong, at its beginning
         * @param bytes at most {@link #came}
         */
        void take(ByteBuffer into, int bytes);
    }

    /** The memory that elements pass through, and the kernels that combine from it; one serves all links of a transport. */
    public static final class Staging {
        private final ByteBuffer bytes;
        private final StagedElements elements;
        private final KeptKernels kernels;

        /**
         * Makes one.
         *
         * @param capacity  bytes that pass at once, for example 65536
         * @param worldSize number of ranks of the transport; averages are divided by it
         * @throws IllegalArgumentException if it has no room for a header
         */
        public Staging(int capacity, int worldSize) {
            if (capacity < WireHeader.BYTES) {
                throw new IllegalArgumentException(
                        "staging of " + capacity + " bytes has no room for a header of " + WireHeader.BYTES);
            }
            bytes = ByteBuffer.allocateDirect(capacity).order(ByteOrder.nativeOrder());
            elements = new StagedElements(bytes);
            kernels = new KeptKernels(worldSize);
        }
    }

    /**
     * Makes a link on which nothing is posted.
     *
     * @param peer     rank at its other end
     * @param outgoing to that rank
     * @param incoming from that rank
     * @param staging  of its transport
     * @param events   receives mismatches
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
     * Moves what can be moved now, both ways; for {@link Transport#poll}.
     *
     * @return whether anything moved
     */
    public boolean move() {
        boolean moved = false;
        while (push() | pull()) {
            moved = true;
        }
        return moved;
    }

    /**
     * Returns whether any post is pending that may still move.
     *
     * @return false once it is dropped, or another header has come
     */
    public boolean isBusy() {
        return !dead && !(sends.isEmpty() && receives.isEmpty());
    }

    /**
     * Returns the number of the call whose data is awaited.
     *
     * @return sequence, 0 where no receive is posted
     */
    public long waitsFor() {
        return receives.sequence();
    }

    /**
     * Describes, for a message, how far the posts are.
     *
     * @return as {@link PostRing#progress}
     */
    public String progress() {
        return PostRing.progress(receives, 0, sends);
    }

    /** Drops all posts at once, so that their memory is free; later ones are ignored. Idempotent. */
    public void drop() {
        dead = true;
        sends.clear();
        receives.clear();
    }

    private boolean push() {
        int bytes = dead ? 0 : next(sends, outgoing.room());
        if (bytes > 0) {
            Post post = sends.oldest();
            if (isAtHeader(sends)) {
                WireHeader.put(post.call(), staging.bytes, 0);
            } else {
                long place = post.place(sends.position());
                staging.elements.write(post.type(), 0, post.memory(), place, bytes / post.elementBytes());
            }
            outgoing.put(staging.bytes, bytes);
            sends.advance(bytes);
            bytesMoved += bytes;
        }
        return bytes > 0;
    }

    private boolean pull() {
        int bytes = dead ? 0 : next(receives, incoming.came());
        if (bytes > 0) {
            incoming.take(staging.bytes, bytes);
            if (!isAtHeader(receives)) {
                deliver(receives.oldest(), bytes / receives.oldest().elementBytes());
            } else if (isStrange(receives.oldest().call())) {
                return false;
            }
            receives.advance(bytes);
            bytesMoved += bytes;
        }
        return bytes > 0;
    }

    private void deliver(Post post, int count) {
        long place = post.place(receives.position());
        if (post.kernel() == null) {
            staging.elements.read(post.type(), 0, post.memory(), place, count);
        } else {
            post.kernel().combine(post.memory(), place, staging.bytes, 0, count);
        }
    }

    /**
     * Returns whether the header that has come is unexpected; after such a header it is unknown to which call the elements
     * belong.
     */
    private boolean isStrange(CallHeader expected) {
        CallHeader found = WireHeader.other(expected, staging.bytes, 0);
        if (found != null) {
            dead = true;
            events.mismatched(peer, expected, found);
        }
        return found != null;
    }

    private static boolean isAtHeader(PostRing posts) {
        return posts.position() < posts.oldest().headerBytes();
    }

    /** Returns the bytes to move next, a whole header or whole elements; 0 if the medium does not have so many. */
    private int next(PostRing posts, int medium) {
        if (posts.isEmpty()) {
            return 0;
        }
        int most = Math.min(medium, staging.bytes.capacity());
        if (isAtHeader(posts)) {
            return most < WireHeader.BYTES ? 0 : WireHeader.BYTES;
        }
        int unit = posts.oldest().elementBytes();
        return (int) Math.min(most, posts.oldest().length() - posts.position()) / unit * unit;
    }
}
