package ferro.backend.simulated;

import ferro.HostTensor;
import ferro.collectives.link.PostRing;
import ferro.collectives.link.WireHeader;
import ferro.spi.CallHeader;
import ferro.spi.Transport.Lane;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One direction of one lane between two ranks. The queue contains posts. One thread adds posts, and one thread consumes
 * posts.
 *
 * <p>The posts form a ring. The sender fills the post after the last post, and adds a post to the ring if no post is
 * free. The receiver reads published posts only. A small send on the point-to-point lane is copied at once into a
 * window, which is like the buffer of a socket. The send is then complete for its sender. Every other send refers to
 * the sender's memory until the receiver has taken the data. The receiver holds the monitor while the receiver copies
 * from the sender's memory. A sender that gives up prevents all later reads of the sender's memory by the receiver.
 */
final class LinkQueue {
    /** Largest send in bytes that the window accepts: the eager limit of the engine plus the size of an envelope. */
    static final long SMALL_BYTES = (64 << 10) + 32;
    /** Largest number of bytes in the window of one channel. */
    static final long WINDOW_BYTES = 256 << 10;
    /** Cost of a post in the window in addition to its bytes, so that the number of empty posts is limited too. */
    private static final long POST_BYTES = 32;
    /** Longest copy in bytes under the monitor, so that a sender that gives up waits only for microseconds. */
    private static final long PIECE_BYTES = 256 << 10;

    /** Delay line of the posts; null without the seeded medium. */
    DelayLine posts;
    /** Delay line of the acknowledgements; null without the seeded medium. */
    DelayLine acknowledgements;

    private final Lane lane;
    private final int from;
    private final int to;
    private final AtomicLong published = new AtomicLong();
    private final AtomicLong consumed = new AtomicLong();
    private final AtomicLong acknowledged = new AtomicLong();
    private final AtomicLong windowLeft = new AtomicLong();
    private final AtomicLong movedBytes = new AtomicLong();

    /** Last post of the sender. Only the sender uses this field. */
    private SimulatedPost tail;
    /** Number of posts in the ring. Only the sender uses this field. */
    private long capacity = 2;
    /** Number of posts that the sender has filled. Only the sender uses this field. */
    private long posted;
    /** Number of bytes that have ever entered the window. Only the sender uses this field. */
    private long windowEntered;
    /**
     * Number of posts, from the first post on, that are complete because the window has their data. Only the sender
     * uses this field.
     */
    private long copied;
    /** Last consumed post. Only the receiver uses this field. */
    private SimulatedPost head;
    /** Whether the sender has given up. Guarded by the monitor. */
    private boolean locked;

    private volatile SimulatedLink sender;
    private volatile SimulatedLink receiver;
    private volatile String senderGone;
    private volatile String receiverGone;

    /** Creates a channel between two ranks. The numbers are ranks in the group of all ranks. */
    LinkQueue(Lane lane, int from, int to) {
        this.lane = lane;
        this.from = from;
        this.to = to;
        tail = new SimulatedPost();
        tail.next = new SimulatedPost();
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

    /** Adds a send. The medium publishes the send later. */
    void post(CallHeader call, boolean header, HostTensor data, long from, long count) {
        SimulatedPost post = free();
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

    private void enterWindow(SimulatedPost post, long count) {
        post.data = count == 0 ? null : PostCopier.copyOf(post.data, post.from, count);
        post.from = 0;
        post.window = post.bytes + POST_BYTES;
        windowEntered += post.window;
        copied = posted + 1;
    }

    /**
     * Returns a free post. At least one post stays free, so that no post is inserted directly after the last consumed
     * post.
     */
    private SimulatedPost free() {
        if (posted - consumed.get() + 1 < capacity) {
            return tail.next;
        }
        SimulatedPost added = new SimulatedPost();
        added.next = tail.next;
        tail.next = added;
        capacity++;
        return added;
    }

    /** Returns how many posts are complete for the sender. */
    long sent() {
        return Math.max(copied, acknowledged.get());
    }

    /** Returns the number of posts that the sender has filled. Only the sender calls this method. */
    long posted() {
        return posted;
    }

    /** Makes the first {@code posts} posts visible to the receiver, and signals the receiver. */
    void publish(long posts) {
        published.set(posts);
        signal(receiver);
    }

    /** Acknowledges the first {@code posts} posts as consumed. If {@code awaited}, the sender may wait for them. */
    void acknowledge(long posts, boolean awaited) {
        acknowledged.set(posts);
        if (awaited) {
            signal(sender);
        }
    }

    private static void signal(SimulatedLink link) {
        if (link != null) {
            link.signal();
        }
    }

    /** Returns the first post that has data left, or null. Only the receiver calls this method. */
    SimulatedPost first(SimulatedMedium medium) {
        while (consumed.get() < published.get()) {
            SimulatedPost post = head.next;
            if (!post.finished()) {
                return post;
            }
            consume(post, medium);
        }
        return null;
    }

    private void consume(SimulatedPost post, SimulatedMedium medium) {
        boolean awaited = post.window == 0;
        windowLeft.set(windowLeft.get() + post.window);
        post.data = null;
        head = post;
        long count = consumed.get() + 1;
        consumed.set(count);
        medium.consumed(this, count, awaited);
    }

    /**
     * Moves at most one piece of elements from the first post into the oldest receive. {@link #first} consumes a post
     * when all its data has moved.
     *
     * @return bytes moved; 0 if the sender has given up, or if the remaining bytes have no complete element of the type
     *     of the send and of the receive
     */
    long take(SimulatedPost post, PostRing receives, PostCopier copier) {
        long bytes = PostCopier.piece(post, receives, PIECE_BYTES);
        if (post.window > 0) {
            copier.move(post, receives, bytes);
        } else {
            synchronized (this) {
                if (locked) {
                    return 0;
                }
                copier.move(post, receives, bytes);
            }
        }
        post.taken += bytes;
        receives.advance(bytes);
        movedBytes.set(movedBytes.get() + bytes);
        return bytes;
    }

    /** Prevents later copies from the sender's memory. After this method returns, no thread accesses that memory. */
    synchronized void lock() {
        locked = true;
    }

    /**
     * Notifies the receiver that the sender is gone, so that only data in the window arrives. A repeated call keeps the
     * first reason.
     */
    void senderGone(String why) {
        senderGone = senderGone == null ? why : senderGone;
        signal(receiver);
    }

    /** Notifies the sender that the receiver will read no more data. A repeated call keeps the first reason. */
    void receiverGone(String why) {
        receiverGone = receiverGone == null ? why : receiverGone;
        signal(sender);
    }

    /** Acknowledges all present and later sends, and drops their data unread. The receiver has left normally. */
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
