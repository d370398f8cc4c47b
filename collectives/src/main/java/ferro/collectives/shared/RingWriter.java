package ferro.collectives.shared;

import ferro.collectives.link.Post;
import ferro.collectives.link.PostRing;
import ferro.collectives.link.StagedElements;
import ferro.collectives.link.WireHeader;
import java.nio.ByteBuffer;

/**
 * The sending half of an intra-node link: copies posts from the caller's memory into a ring in the receiver's segment. A
 * post is finished when its last byte is in the ring, as with a socket: the receiver finds it there even if this rank
 * ends.
 */
final class RingWriter {
    private final PostRing posts = new PostRing();
    private final ByteBuffer area;
    private final StagedElements elements;
    private final int ring;
    private final int capacity;
    private final int pieceBytes;
    /** Bytes ever put in; the part of them that is published; and bytes taken out, as last seen. */
    private long position;

    private long told;
    private long taken;

    RingWriter(ByteBuffer area, StagedElements elements, int ring, int capacity) {
        this.area = area;
        this.elements = elements;
        this.ring = ring;
        this.capacity = capacity;
        this.pieceBytes = capacity / RingReader.PIECES;
    }

    PostRing posts() {
        return posts;
    }

    long bytesMoved() {
        return position;
    }

    /** Copies what there is room for, up to the limit of a poll; returns whether there was any. */
    boolean push() {
        long before = position;
        while (!posts.isEmpty() && position - before < RingReader.TURN_BYTES) {
            int bytes = put(posts.oldest());
            if (bytes == 0) {
                long now = ProgressWords.acquire(area, RingLayout.taken(ring));
                if (now == taken) {
                    break;
                }
                taken = now;
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
        ProgressWords.release(area, RingLayout.put(ring), position);
    }

    /** Puts in a header, or elements up to a piece or the end of the ring; returns the bytes, 0 if there is no room. */
    private int put(Post post) {
        int room = capacity - (int) (position - taken);
        int index = (int) position & capacity - 1;
        int at = RingLayout.bytes(ring) + index;
        if (posts.position() < post.headerBytes()) {
            if (room < WireHeader.BYTES) {
                return 0;
            }
            WireHeader.put(post.call(), area, at);
            repeat(index, WireHeader.BYTES);
            return WireHeader.BYTES;
        }
        int size = post.elementBytes();
        int fitting = Math.min(Math.min(room, pieceBytes), capacity - index + size - 1);
        int count = (int) Math.min(fitting, post.length() - posts.position()) / size;
        if (count == 0) {
            return 0;
        }
        elements.write(post.type(), at, post.memory(posts.position()), post.place(posts.position()), count);
        repeat(index, count * size);
        return count * size;
    }

    /** Copies what went over the end of the ring to its beginning, and repeats the beginning behind the end. */
    private void repeat(int index, int bytes) {
        int first = RingLayout.bytes(ring);
        int over = index + bytes - capacity;
        if (over > 0) {
            area.put(first, area, first + capacity, over);
        }
        if (index < RingLayout.REPEATED_BYTES) {
            int most = Math.min(bytes, RingLayout.REPEATED_BYTES - index);
            area.put(first + capacity + index, area, first + index, most);
        }
    }
}
