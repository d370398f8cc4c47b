package ferro.backend.tcp;

import ferro.collectives.link.Post;
import ferro.collectives.link.PostRing;
import ferro.collectives.link.WireHeader;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The sending half of a link. Direct memory goes to the kernel from where it is; arrays and everything small go through
 * the staging memory, header and elements and as many posts as fit in one write.
 *
 * <p>A post is finished when the kernel has taken its last byte, not when it is staged: nobody may drive this link
 * afterwards, and what only we hold would then never leave.
 */
final class Outgoing {
    /** Bytes per turn, so that receiving keeps pace. */
    private static final int TURN_BYTES = 1 << 20;

    private final PostRing posts = new PostRing();
    private final Staging staging;
    /** Bytes of all posts that the kernel has taken. */
    private long position;

    Outgoing(Staging staging) {
        this.staging = staging;
    }

    PostRing posts() {
        return posts;
    }

    long bytesMoved() {
        return position;
    }

    /** Writes what the kernel takes now, up to a turn's worth; returns whether it took anything. */
    boolean push(Wire wire) throws IOException {
        long before = position;
        while (!posts.isEmpty() && position - before < TURN_BYTES) {
            if (!pushOnce(wire)) {
                break;
            }
        }
        return position != before;
    }

    /** Drops every pending post. */
    void clear() {
        posts.clear();
        staging.forget(this);
    }

    /** Makes one write; returns whether the kernel took all of it, so that another may be worth the call. */
    private boolean pushOnce(Wire wire) throws IOException {
        Post post = posts.oldest();
        long done = posts.position();
        if (done >= post.headerBytes() && post.straight(Staging.SMALL_BYTES)) {
            int at = (int) post.place(done);
            int bytes = (int) Math.min(Staging.OUT_BYTES, post.length() - done);
            return took(wire.write((ByteBuffer) post.memory(), at, at + bytes), bytes);
        }
        int at = staging.indexOf(this, position);
        if (at < 0) {
            at = stage();
        }
        int bytes = staging.end() - at;
        return took(wire.write(staging.out(), at, at + bytes), bytes);
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

    /** Fills the staging memory from the oldest post on; returns where its next byte lies. */
    private int stage() {
        ByteBuffer out = staging.out();
        int end = 0;
        int skipped = 0;
        for (int i = 0; i < posts.size() && end < Staging.OUT_BYTES; i++) {
            Post post = posts.pending(i);
            long done = i == 0 ? posts.position() : 0;
            if (i == 0) {
                skipped = skip(post, done);
                done -= skipped;
            }
            int added = stage(post, done, out, end);
            end += added;
            if (done + added < post.length()) {
                break;
            }
        }
        staging.holds(this, position - skipped, position - skipped + end);
        return skipped;
    }

    /** Returns the bytes before {@code done} that must be staged again because only whole elements can be copied. */
    private static int skip(Post post, long done) {
        if (done < post.headerBytes()) {
            return (int) done;
        }
        return (int) ((done - post.headerBytes()) % post.elementBytes());
    }

    /** Copies one post from {@code done}, a whole element or its start, as far as there is room; returns the bytes. */
    private int stage(Post post, long done, ByteBuffer out, int at) {
        int end = at;
        if (done < post.headerBytes()) {
            if (Staging.OUT_BYTES - at < WireHeader.BYTES) {
                return 0;
            }
            WireHeader.put(post.call(), out, at);
            end += WireHeader.BYTES;
        }
        if (post.straight(Staging.SMALL_BYTES)) {
            return end - at;
        }
        long from = Math.max(done, post.headerBytes());
        int count = (int) Math.min(Staging.OUT_BYTES - end, post.length() - from) / post.elementBytes();
        staging.outElements().write(post.type(), end, post.memory(), post.place(from), count);
        return end - at + count * post.elementBytes();
    }
}
