package ferro.collectives.shared;

import ferro.collectives.link.Post;
import ferro.collectives.link.PostRing;
import ferro.collectives.link.StagedElements;
import ferro.collectives.link.WireHeader;
import ferro.spi.CallHeader;
import java.nio.ByteBuffer;

/**
 * The receiving half of a near link: copies or combines straight out of the ring into the caller's memory. Nothing is taken
 * that is not posted, so that what nobody waits for slows its sender.
 */
final class RingReader {
    /** Bytes per turn and direction, so that both keep pace. */
    static final int TURN_BYTES = 1 << 20;

    /** A ring is told in so many pieces: one is put in while others are taken out. */
    static final int PIECES = 8;

    private final PostRing posts = new PostRing();
    private final ByteBuffer area;
    private final StagedElements elements;
    private final int ring;
    private final int capacity;
    private final int pieceBytes;
    /** Bytes ever taken out; told so far; and how many were put in, as last seen. */
    private long position;

    private long told;
    private long put;
    private CallHeader strange;

    RingReader(ByteBuffer area, StagedElements elements, int ring, int capacity) {
        this.area = area;
        this.elements = elements;
        this.ring = ring;
        this.capacity = capacity;
        this.pieceBytes = capacity / PIECES;
    }

    PostRing posts() {
        return posts;
    }

    long bytesMoved() {
        return position;
    }

    /** Returns the header that came instead of the oldest post's, or null; nothing is taken after it. */
    CallHeader strange() {
        return strange;
    }

    /** Returns whether more was put in than taken out. */
    boolean hasUnread() {
        return Words.acquire(area, RingLayout.put(ring)) != position;
    }

    /** Takes what has come, up to a turn's worth; returns whether there was any. */
    boolean pull() {
        long before = position;
        while (!posts.isEmpty() && strange == null && position - before < TURN_BYTES) {
            int bytes = take(posts.oldest());
            if (bytes == 0) {
                long now = Words.acquire(area, RingLayout.put(ring));
                if (now == put) {
                    break;
                }
                put = now;
                continue;
            }
            position += bytes;
            posts.advance(bytes);
            if (position - told >= pieceBytes) {
                tell();
            }
        }
        if (position != told) {
            tell();
        }
        return position != before;
    }

    private void tell() {
        told = position;
        Words.release(area, RingLayout.taken(ring), position);
    }

    /** Takes a header, or elements up to a piece or the end of the ring; returns the bytes, 0 where none has come whole. */
    private int take(Post post) {
        int came = (int) (put - position);
        int index = (int) position & capacity - 1;
        int at = RingLayout.bytes(ring) + index;
        if (posts.position() < post.headerBytes()) {
            if (came < WireHeader.BYTES) {
                return 0;
            }
            strange = WireHeader.other(post.call(), area, at);
            return strange == null ? WireHeader.BYTES : 0;
        }
        int size = post.elementBytes();
        int whole = Math.min(Math.min(came, pieceBytes), capacity - index + size - 1);
        int count = (int) Math.min(whole, post.length() - posts.position()) / size;
        if (count == 0) {
            return 0;
        }
        if (post.kernel() == null) {
            elements.read(post.type(), at, post.memory(), post.place(posts.position()), count);
        } else {
            post.kernel().combine(post.memory(), post.place(posts.position()), area, at, count);
        }
        return count * size;
    }
}
