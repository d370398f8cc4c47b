package ferro.backend.simulated;

import ferro.HostTensor;
import ferro.collectives.link.WireHeader;
import ferro.spi.CallHeader;
import ferro.spi.Transport.Lane;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One direction of one lane between two ranks: a queue of posts with one thread at either end.
 *
 * <p>The posts stand in a circle. The sender fills posts after the last one and widens the circle where none is free;
 * the receiver follows them as far as they are published. A small send on the point-to-point lane is copied into a
 * window at once, as a socket would, and is then finished for its sender; everything else refers to the sender's memory
 * until the receiver has taken it. The monitor guards that memory: the receiver holds it while it copies, and a sender
 * that gives up locks the receiver out.
 */
final class Channel {
    /** Largest send that the window takes: the eager limit of the engine and its envelope. */
    static final long SMALL_BYTES = (64 << 10) + 32;
    /** What senders may have in the window of one channel. */
    static final long WINDOW_BYTES = 256 << 10;
    /** What a post costs beside its bytes, so that empty ones are bounded too. */
    private static final long POST_BYTES = 32;
    /** Longest copy under the monitor, so that a sender that gives up waits for microseconds only. */
    private static final long PIECE_BYTES = 256 << 10;

    /** How posts travel, and how their acknowledgement comes back; the seeded medium's. */
    Way posts;

    Way acknowledgements;

    private final Lane lane;
    private final int from;
    private final int to;
    private final AtomicLong published = new AtomicLong();
    private final AtomicLong consumed = new AtomicLong();
    private final AtomicLong acknowledged = new AtomicLong();
    private final AtomicLong windowLeft = new AtomicLong();
    private final AtomicLong movedBytes = new AtomicLong();

    /** Last post of the sender; the sender's. */
    private Post tail;
    /** How many posts the circle has; the sender's. */
    private long capacity = 2;
    /** How many posts were made; the sender's. */
    private long posted;
    /** How many bytes ever went into the window; the sender's. */
    private long windowEntered;
    /** How many posts, from the first, are finished because the window took them; the sender's. */
    private long copied;
    /** The last post consumed; the receiver's. */
    private Post head;
    /** Whether the sender has given up; under the monitor. */
    private boolean locked;

    private volatile SimulatedLink sender;
    private volatile SimulatedLink receiver;
    private volatile String senderGone;
    private volatile String receiverGone;

    /** Makes a channel between two ranks of the world. */
    Channel(Lane lane, int from, int to) {
        this.lane = lane;
        this.from = from;
        this.to = to;
        tail = new Post();
        tail.next = new Post();
        tail.next.next = tail;
        head = tail;
    }

    int from() {
        return from;
    }

    int to() {
        return to;
    }

    void sender(SimulatedLink link) {
        sender = link;
    }

    void receiver(SimulatedLink link) {
        receiver = link;
    }

    /** Adds a send; the medium publishes it. */
    void post(CallHeader call, boolean header, HostTensor data, long from, long count) {
        Post post = free();
        post.header = header;
        if (header) {
            WireHeader.put(call, post.headerBytes, 0);
        }
        post.data = data;
        post.from = from;
        post.bytes = count == 0 ? 0 : count * data.dataType().byteSize();
        post.taken = 0;
        post.window = 0;
        if (sent() == posted && windowTakes(post.bytes)) {
            enterWindow(post, count);
        }
        posted++;
        tail = post;
    }

    private boolean windowTakes(long bytes) {
        boolean small = bytes == 0 || lane == Lane.POINT_TO_POINT && bytes <= SMALL_BYTES;
        return small && windowEntered - windowLeft.get() + bytes + POST_BYTES <= WINDOW_BYTES;
    }

    private void enterWindow(Post post, long count) {
        post.data = count == 0 ? null : Movement.copyOf(post.data, post.from, count);
        post.from = 0;
        post.window = post.bytes + POST_BYTES;
        windowEntered += post.window;
        copied = posted + 1;
    }

    /** One post always stays free, so that a new one never comes between the last consumed post and its successor. */
    private Post free() {
        if (posted - consumed.get() + 1 < capacity) {
            return tail.next;
        }
        Post added = new Post();
        added.next = tail.next;
        tail.next = added;
        capacity++;
        return added;
    }

    /** Returns how many posts are finished for the sender. */
    long sent() {
        return Math.max(copied, acknowledged.get());
    }

    /** Returns how many posts were made; the sender's. */
    long posted() {
        return posted;
    }

    /** Lets the receiver see this many posts, and tells it. */
    void publish(long posts) {
        published.set(posts);
        SimulatedLink told = receiver;
        if (told != null) {
            told.signal();
        }
    }

    /** Lets the sender see that this many posts are consumed; {@code awaited} if it may wait for that. */
    void acknowledge(long posts, boolean awaited) {
        acknowledged.set(posts);
        SimulatedLink told = sender;
        if (awaited && told != null) {
            told.signal();
        }
    }

    /** Returns the first post that has something left, or null; the receiver's. */
    Post first(Medium medium) {
        while (consumed.get() < published.get()) {
            Post post = head.next;
            if (!post.finished()) {
                return post;
            }
            consume(post, medium);
        }
        return null;
    }

    private void consume(Post post, Medium medium) {
        boolean awaited = post.window == 0;
        windowLeft.set(windowLeft.get() + post.window);
        post.data = null;
        head = post;
        long count = consumed.get() + 1;
        consumed.set(count);
        medium.consumed(this, count, awaited);
    }

    /**
     * Moves elements of the first post to where a receive wants them, at most a piece;
     * {@link #first} then consumes what is finished.
     *
     * @return bytes moved; 0 if the sender has given up, or if what is left is no whole element of both types
     */
    long take(Post post, Receive receive, Movement movement) {
        long bytes = Math.min(Movement.whole(post, receive), PIECE_BYTES);
        if (post.window > 0) {
            movement.move(post, receive, bytes);
        } else {
            synchronized (this) {
                if (locked) {
                    return 0;
                }
                movement.move(post, receive, bytes);
            }
        }
        post.taken += bytes;
        receive.taken += bytes;
        movedBytes.set(movedBytes.get() + bytes);
        return bytes;
    }

    /** Locks the receiver out of the sender's memory; when this returns, nobody touches it. */
    synchronized void lock() {
        locked = true;
    }

    /** Tells the receiver that nothing but what is in the window will come; the first reason stays. */
    void senderGone(String why) {
        senderGone = senderGone == null ? why : senderGone;
        SimulatedLink told = receiver;
        if (told != null) {
            told.signal();
        }
    }

    /** Tells the sender that nothing will be taken any more; the first reason stays. */
    void receiverGone(String why) {
        receiverGone = receiverGone == null ? why : receiverGone;
        SimulatedLink told = sender;
        if (told != null) {
            told.signal();
        }
    }

    /** Tells the sender that whatever it sends is dropped unread: the receiver has left in good order. */
    void receiverLeft() {
        acknowledge(Long.MAX_VALUE, true);
    }

    String senderGone() {
        return senderGone;
    }

    String receiverGone() {
        return receiverGone;
    }

    long movedBytes() {
        return movedBytes.get();
    }
}
