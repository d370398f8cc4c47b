package ferro.collectives.shared;

import ferro.collectives.link.PostRing;
import ferro.collectives.reduce.TypedViews;
import java.nio.ByteBuffer;

/**
 * The sending end or the receiving end of a ring of bytes in the segment of the rank that receives.
 *
 * <p>The sending end copies posts from the caller's memory into the ring. As with a socket, a post is finished when its
 * last byte is in the ring. The receiver can read the bytes in the ring even if the sender ends.
 *
 * <p>The receiving end copies or combines bytes of the ring directly into the caller's memory. The receiving end takes
 * only data for which a receive is posted, so that a sender waits when the ring is full of data without a receive.
 */
final class ByteRingEnd {
    /** Maximum number of bytes that one poll moves in one direction, so that sends and receives progress equally. */
    private static final int TURN_BYTES = 1 << 20;

    /**
     * Number of pieces of a ring. An end publishes its position after each piece, so that both ends can work at once.
     */
    private static final int PIECES = 8;

    private final PostRing posts = new PostRing();
    private final boolean sends;
    private final ByteBuffer area;
    private final TypedViews elements;
    private final int capacity;
    private final int pieceBytes;
    /** Offset of the word in which this end publishes its position. The other end publishes in {@code otherWord}. */
    private final int ownWord;

    private final int otherWord;
    private final int bytes;
    /**
     * Total bytes that this end has moved. {@code told} is the position that this end has published last. {@code seen}
     * is the last position that this end has read from the peer.
     */
    private long position;

    private long told;
    private long seen;

    /**
     * Makes one end.
     *
     * @param sends    whether this object is the sending end
     * @param area     segment of the receiver
     * @param elements typed views of {@code area}
     * @param ring     offset of the ring in {@code area}, in bytes
     * @param capacity bytes of the ring, a power of two
     */
    ByteRingEnd(boolean sends, ByteBuffer area, TypedViews elements, int ring, int capacity) {
        this.sends = sends;
        this.area = area;
        this.elements = elements;
        this.capacity = capacity;
        this.pieceBytes = capacity / PIECES;
        this.ownWord = sends ? SegmentLayout.put(ring) : SegmentLayout.taken(ring);
        this.otherWord = sends ? SegmentLayout.taken(ring) : SegmentLayout.put(ring);
        this.bytes = SegmentLayout.bytes(ring);
    }

    PostRing posts() {
        return posts;
    }

    long bytesMoved() {
        return position;
    }

    /** Returns whether the ring holds bytes that this receiving end has not taken out. */
    boolean hasUnread() {
        return ProgressCounters.acquire(area, otherWord) != position;
    }

    /** Moves all bytes that can move now, up to the limit of a poll. Returns whether any byte moved. */
    boolean move() {
        long before = position;
        while (!posts.isEmpty() && posts.unexpectedHeader() == null && position - before < TURN_BYTES) {
            int moved = movePiece();
            if (moved == 0) {
                long now = ProgressCounters.acquire(area, otherWord);
                if (now == seen) {
                    break;
                }
                seen = now;
                continue;
            }
            position += moved;
            posts.advance(moved);
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
        ProgressCounters.release(area, ownWord, position);
    }

    /**
     * Moves a header, or elements up to a piece or the end of the ring. Returns the number of bytes. The result is 0 if
     * the ring has too little free space, or if no header or element has arrived completely.
     */
    private int movePiece() {
        int max = (int) (seen - position) + (sends ? capacity : 0);
        int index = (int) position & capacity - 1;
        if (!posts.isAtHeader()) {
            int rest = capacity - index + posts.oldest().elementBytes() - 1;
            max = Math.min(Math.min(max, pieceBytes), rest);
        }
        if (!sends) {
            return posts.read(elements, bytes + index, max);
        }
        int moved = posts.write(elements, bytes + index, max);
        if (moved > 0) {
            repeat(index, moved);
        }
        return moved;
    }

    /**
     * Copies bytes that were written past the end of the ring to the beginning of the ring. Also repeats the beginning
     * after the end of the ring.
     */
    private void repeat(int index, int length) {
        int over = index + length - capacity;
        if (over > 0) {
            area.put(bytes, area, bytes + capacity, over);
        }
        if (index < SegmentLayout.REPEATED_BYTES) {
            int most = Math.min(length, SegmentLayout.REPEATED_BYTES - index);
            area.put(bytes + capacity + index, area, bytes + index, most);
        }
    }
}
