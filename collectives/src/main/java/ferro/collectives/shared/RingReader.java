package ferro.collectives.shared;

import ferro.collectives.link.Post;
import ferro.collectives.link.PostRing;
import ferro.collectives.link.StagedElements;
import ferro.collectives.link.WireHeader;
import ferro.spi.CallHeader;
import java.nio.ByteBuffer;

/**
 * The receiving half of an intra-node link: copies or combines straight out of the ring into the caller's memory. It
 * takes only data for which a receive is posted, so that data without a receive slows its sender.
 */
final class RingReader {
    /** Most bytes per poll and direction, so that both directions keep pace. */
    static final int TURN_BYTES = 1 << 20;

    /** Number of pieces in which the bytes of a ring are published: one piece is put in while others are taken out. */
    static final int PIECES = 8;

    private final PostRing posts = new PostRing();
    private final ByteBuffer area;
    private final StagedElements elements;
    private final int ring;
    private final int capacity;
    private final int pieceBytes;
    /** Bytes ever taken out; the part of them that is published; and bytes put in, as last seen. */
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

    /**
     * Returns the header that came instead of the oldest post's, or null; nothing is taken after an unexpected header.
     */
    CallHeader unexpectedHeader() {
        return strange;
    }

    /** Returns whether the ring holds bytes that are not taken out. */
    boolean hasUnread() {
        return ProgressWords.acquire(area, RingLayout.put(ring)) != position;
    }

    /** Takes what has come, up to the limit of a poll; returns whether there was any. */
    boolean pull() {
        long before = position;
        while (!posts.isEmpty() && strange == null && position - before < TURN_BYTES) {
            int bytes = take(posts.oldest());
            if (bytes == 0) {
                long now = ProgressWords.acquire(area, RingLayout.put(ring));
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
        ProgressWords.release(area, RingLayout.taken(ring), position);
    }

    /**
     * Takes a header, or elements up to a piece or the end of the ring; returns the bytes, 0 if nothing is complete yet.
     */
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
            elements.read(post.type(), at, post.memory(posts.position()), post.place(posts.position()), count);
        } else {
            posts.combine(area, at, count);
        }
        return count * size;
    }
}
