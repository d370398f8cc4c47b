package ferro.backend.tcp.link;

import ferro.collectives.link.Post;
import ferro.collectives.link.PostRing;
import ferro.collectives.link.WireHeader;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The sending half of a link. The kernel reads direct memory without a copy. The kernel also reads arrays and foreign
 * memory without a copy if they can be passed to a system call. All other data and all small runs are copied to the
 * staging memory. One write sends headers and elements of as many posts as fit into the staging memory.
 *
 * <p>A post is finished when the kernel has accepted its last byte, not when the post is staged. After the last post
 * has finished, it is possible that no thread polls this link. If no thread polls this link, bytes that are only staged
 * are never sent.
 */
final class LinkSender {
    /** Maximum bytes per {@link #push}. The limit leaves the thread time to receive. */
    private static final int TURN_BYTES = 1 << 20;

    private final PostRing posts = new PostRing();
    private final DirectStaging staging;
    /** Number of bytes that the kernel has accepted, of all posts together. */
    private long position;

    LinkSender(DirectStaging staging) {
        this.staging = staging;
    }

    PostRing posts() {
        return posts;
    }

    long bytesMoved() {
        return position;
    }

    /** Writes the bytes that the kernel accepts now, up to a limit per call. Returns whether any byte was accepted. */
    boolean push(DataSocket wire) throws IOException {
        long before = position;
        while (!posts.isEmpty() && position - before < TURN_BYTES) {
            if (!pushOnce(wire)) {
                break;
            }
        }
        return position != before;
    }

    /** Drops all pending posts. */
    void clear() {
        posts.clear();
        staging.forget(this);
    }

    /** Makes one write. Returns whether the kernel accepted all bytes, so that another write may move more bytes. */
    private boolean pushOnce(DataSocket wire) throws IOException {
        Post post = posts.oldest();
        long done = posts.position();
        if (done >= post.headerBytes() && DirectStaging.isBypassed(post, wire)) {
            return pushStraight(wire, post, done);
        }
        int at = staging.indexOf(this, position);
        if (at < 0) {
            at = stage(wire);
        }
        int bytes = staging.end() - at;
        return took(wire.write(staging.out(), at, at + bytes), bytes);
    }

    private boolean pushStraight(DataSocket wire, Post post, long done) throws IOException {
        long from = post.bytePlace(done);
        if (!post.isForeign() && post.memory(done) instanceof ByteBuffer direct) {
            int bytes = (int) Math.min(DirectStaging.OUT_BYTES, post.length() - done);
            return took(wire.write(direct, (int) from, (int) from + bytes), bytes);
        }
        int bytes = (int) Math.min(ArraySocketCalls.MOST_BYTES, post.length() - done);
        return took(wire.writeLent(post.memory(done), from, bytes), bytes);
    }

    private boolean took(int taken, int offered) {
        position += taken;
        for (long left = taken; left > 0; ) {
            long step = Math.min(left, posts.oldest().length() - posts.position());
            posts.advance(step);
            left -= step;
        }
        return taken == offered;
    }

    /**
     * Fills the staging memory, beginning with the oldest post. Returns the index of the first byte that was not sent.
     */
    private int stage(DataSocket wire) {
        int end = 0;
        int skipped = 0;
        for (int i = 0; i < posts.size() && end < DirectStaging.OUT_BYTES; i++) {
            Post post = posts.pending(i);
            long done = i == 0 ? posts.position() : 0;
            if (i == 0) {
                skipped = skip(post, done);
                done -= skipped;
            }
            int added = stage(post, done, end, DirectStaging.isBypassed(post, wire));
            end += added;
            if (done + added < post.length()) {
                break;
            }
        }
        staging.holds(this, position - skipped, position - skipped + end);
        return skipped;
    }

    /**
     * Returns how many bytes of the header or element at {@code done} were already sent. These bytes are copied again,
     * because only complete headers and elements are copied.
     */
    private static int skip(Post post, long done) {
        if (done < post.headerBytes()) {
            return (int) done;
        }
        return (int) ((done - post.headerBytes()) % post.elementBytes());
    }

    /**
     * Copies as much of a post as fits, and returns the number of bytes. {@code done} is the start of an element or
     * post.
     */
    private int stage(Post post, long done, int at, boolean onlyHeader) {
        int end = at;
        if (done < post.headerBytes()) {
            if (DirectStaging.OUT_BYTES - at < WireHeader.BYTES) {
                return 0;
            }
            WireHeader.put(post.call(), staging.out(), at);
            end += WireHeader.BYTES;
        }
        if (onlyHeader) {
            return end - at;
        }
        long from = Math.max(done, post.headerBytes());
        int count = (int) Math.min(DirectStaging.OUT_BYTES - end, post.length() - from) / post.elementBytes();
        staging.outElements().write(post.type(), end, post.memory(from), post.place(from), count);
        return end - at + count * post.elementBytes();
    }
}
