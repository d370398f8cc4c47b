package ferro.collectives.shared;

import ferro.collectives.link.PostRing;
import ferro.collectives.reduce.TypedViews;
import java.nio.ByteBuffer;

/**
 * One end of a ring of bytes in the segment of the rank that receives.
 *
 * <p>The sending end copies posts from the caller's memory into the ring. A post is finished when its last byte is in the
 * ring, as with a socket: the receiver finds it there even if the sender ends.
 *
 * <p>The receiving end copies or combines straight out of the ring into the caller's memory. It takes only data for which a
 * receive is posted, so that data without a receive slows its sender.
 */
final class RingEnd {
    /** Most bytes per poll and direction, so that both directions keep pace. */
    private static final int TURN_BYTES = 1 << 20;

    /** Number of pieces in which the bytes of a ring are published: one piece is put in while others are taken out. */
    private static final int PIECES = 8;

    private final PostRing posts = new PostRing();
    private final boolean sends;
    private final ByteBuffer area;
    private final TypedViews elements;
    private final int capacity;
    private final int pieceBytes;
    /** The word in which this end publishes its position, and that of the other end. */
    private final int ownWord;

    private final int otherWord;
    private final int bytes;
    /** Bytes ever put in or taken out here; the part of them that is published; and those of the other end, as last seen. */
    private long position;

    private long told;
    private long seen;

    /**
     * Makes one end.
     *
     * @param sends    whether it is the end of the sender
     * @param area     segment of the receiver
     * @param elements views of that segment
     * @param ring     where the ring begins there
     * @param capacity bytes of the ring, a power of two
     */
    RingEnd(boolean sends, ByteBuffer area, TypedViews elements, int ring, int capacity) {
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

    /** Returns whether the ring, at its receiving end, holds bytes that are not taken out. */
    boolean hasUnread() {
        return ProgressWords.acquire(area, otherWord) != position;
    }

    /** Moves what has come, or what there is room for, up to the limit of a poll; returns whether there was any. */
    boolean move() {
        long before = position;
        while (!posts.isEmpty() && posts.unexpectedHeader() == null && position - before < TURN_BYTES) {
            int moved = movePiece();
            if (moved == 0) {
                long now = ProgressWords.acquire(area, otherWord);
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
        ProgressWords.release(area, ownWord, position);
    }

    /**
     * Moves a header, or elements up to a piece or the end of the ring; returns the bytes, 0 if there is no room, or if
     * nothing is complete yet.
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

    /** Copies what went over the end of the ring to its beginning, and repeats the beginning behind the end. */
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
