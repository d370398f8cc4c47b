package ferro.backend.tcp.link;

import ferro.collectives.link.Post;
import ferro.collectives.link.PostRing;
import ferro.collectives.link.WireHeader;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The receiving half of a link. Data that is not combined, and whose target is direct memory, is read directly into the
 * target. All other data is read into the staging memory. Data in the staging memory is copied or combined at once.
 *
 * <p>Bytes are read only after a receive for them was posted. Unread bytes stay in the kernel, so that TCP slows the
 * sender. Between two reads, this object keeps at most a part of a header or of one element.
 */
final class LinkReceiver {
    /** Maximum bytes per {@link #pull} and per read. The limit leaves the thread time to send. */
    private static final int TURN_BYTES = 1 << 20;

    private final PostRing posts = new PostRing();
    private final DirectStaging staging;
    private final byte[] rest = new byte[WireHeader.BYTES];
    private int restBytes;
    private long bytesMoved;

    LinkReceiver(DirectStaging staging) {
        this.staging = staging;
    }

    PostRing posts() {
        return posts;
    }

    long bytesMoved() {
        return bytesMoved;
    }

    /** Returns how many bytes of an incomplete header or element have arrived. */
    int restBytes() {
        return restBytes;
    }

    /** Returns whether the last received byte is the last byte of a header or element. */
    boolean isBetweenElements() {
        if (restBytes > 0) {
            return false;
        }
        if (posts.isEmpty()) {
            return true;
        }
        Post post = posts.oldest();
        long done = posts.position() - post.headerBytes();
        return done <= 0 || done % post.elementBytes() == 0;
    }

    /**
     * Reads the bytes that have arrived, up to a limit per call.
     *
     * @return number of bytes, or -1 if the stream ended before any byte arrived
     */
    long pull(DataSocket wire) throws IOException {
        long before = bytesMoved;
        while (!posts.isEmpty() && posts.unexpectedHeader() == null && bytesMoved - before < TURN_BYTES) {
            boolean straight = isStraight(wire);
            int asked = straight ? straightBytes() : stagedBytes(wire);
            int came = straight ? pullStraight(wire, asked) : pullStaged(wire, asked);
            if (came < asked) {
                return came < 0 && bytesMoved == before ? -1 : bytesMoved - before;
            }
        }
        return bytesMoved - before;
    }

    /** Drops all pending posts. */
    void clear() {
        posts.clear();
        restBytes = 0;
    }

    private boolean isStraight(DataSocket wire) {
        Post post = posts.oldest();
        return !posts.isAtHeader() && DirectStaging.isBypassed(post, wire);
    }

    private int straightBytes() {
        Post post = posts.oldest();
        int most = isAddressed(post) ? TURN_BYTES : ArraySocketCalls.MOST_BYTES;
        return (int) Math.min(most, post.length() - posts.position());
    }

    /** Returns whether the elements are in direct memory that no program can free during the read. */
    private boolean isAddressed(Post post) {
        return !post.isForeign() && post.memory(posts.position()) instanceof ByteBuffer;
    }

    private int pullStraight(DataSocket wire, int asked) throws IOException {
        Post post = posts.oldest();
        Object memory = post.memory(posts.position());
        long from = post.bytePlace(posts.position());
        int came = isAddressed(post)
                ? wire.read((ByteBuffer) memory, (int) from, (int) from + asked)
                : wire.readLent(memory, from, asked);
        if (came > 0) {
            bytesMoved += came;
            posts.advance(came);
        }
        return came;
    }

    /**
     * Returns how many bytes to read into staging memory: the posted bytes before the first elements that are read
     * directly.
     */
    private int stagedBytes(DataSocket wire) {
        long wanted = -posts.position() - restBytes;
        for (int i = 0; i < posts.size() && wanted < DirectStaging.IN_BYTES; i++) {
            Post post = posts.pending(i);
            if (DirectStaging.isBypassed(post, wire)) {
                wanted += post.headerBytes();
                break;
            }
            wanted += post.length();
        }
        return (int) Math.min(wanted, DirectStaging.IN_BYTES - restBytes);
    }

    private int pullStaged(DataSocket wire, int asked) throws IOException {
        ByteBuffer in = staging.in();
        int came = wire.read(in, restBytes, restBytes + asked);
        if (came > 0) {
            bytesMoved += came;
            in.put(0, rest, 0, restBytes);
            int end = restBytes + came;
            int used = deliver(end);
            restBytes = posts.unexpectedHeader() == null ? end - used : 0;
            in.get(used, rest, 0, restBytes);
        }
        return came;
    }

    /**
     * Passes staged bytes to the posts. Returns the number of bytes that were used: all except an incomplete header or
     * element at the end.
     */
    private int deliver(int end) {
        int at = 0;
        while (at < end) {
            int used = posts.read(staging.inElements(), at, end - at);
            if (used == 0) {
                break;
            }
            at += used;
            posts.advance(used);
        }
        return at;
    }
}
