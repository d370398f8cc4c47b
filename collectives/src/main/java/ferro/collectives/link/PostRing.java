package ferro.collectives.link;

import ferro.HostTensor;
import ferro.collectives.reduce.Kernel;
import ferro.collectives.reduce.TypedViews;
import ferro.spi.CallHeader;
import java.nio.ByteBuffer;

/**
 * The posts of one direction of a link, oldest first, and the progress of the oldest post. {@link #write} and
 * {@link #read} move the next piece between the oldest post and the memory of a medium. The ring grows to the largest
 * number of pending posts. A post allocates nothing once the ring is large enough.
 */
public final class PostRing {
    private static final int FIRST_CAPACITY = 16;

    private Post[] posts;
    private int first;
    private int size;
    /** Number of bytes of the oldest post that have moved. */
    private long position;

    private long finished;
    /** A record of the oldest post if only the beginning of the record has arrived. */
    private byte[] begunRecord;

    private CallHeader unexpected;

    private boolean isUsed;
    private long lastSequence;

    /** Makes an empty ring with capacity for 16 posts, which is more than most links need. */
    public PostRing() {
        this(FIRST_CAPACITY);
    }

    /**
     * Makes an empty ring.
     *
     * @param firstCapacity number of posts that fit before the ring grows, a power of two
     */
    public PostRing(int firstCapacity) {
        posts = made(new Post[firstCapacity], 0);
    }

    /** Returns whether every post is finished. */
    public boolean isEmpty() {
        return size == 0;
    }

    /** Returns how many posts are not finished. */
    public int size() {
        return size;
    }

    /** Returns how many posts are finished since the ring was made. */
    public long finished() {
        return finished;
    }

    /** Returns the post that moves next. At least one post must be pending. */
    public Post oldest() {
        return posts[first];
    }

    /** Returns the pending post that has {@code i} older pending posts. */
    public Post pending(int i) {
        return posts[(first + i) & (posts.length - 1)];
    }

    /** Returns whether the header of the oldest post moves next. */
    public boolean isAtHeader() {
        return position < oldest().headerBytes();
    }

    /** Returns how many bytes of the oldest post have moved, including the header. */
    public long position() {
        return position;
    }

    /**
     * Appends a post that copies. The first post of a call begins with the header. A post is the first post of its call
     * if the sequence of the post differs from the sequence of the previous post.
     */
    public void add(CallHeader call, HostTensor data, long from, long count) {
        add(call, data, from, count, null);
    }

    /**
     * Appends a post as {@link #add(CallHeader, HostTensor, long, long)} does, for a receive that combines with a
     * kernel.
     */
    public void add(CallHeader call, HostTensor data, long from, long count, Kernel kernel) {
        if (size == posts.length) {
            grow();
        }
        Post post = pending(size);
        post.fill(call, !isUsed || lastSequence != call.sequence(), data, from, count, kernel);
        isUsed = true;
        lastSequence = call.sequence();
        size++;
        settle();
    }

    /**
     * Returns the length of the next piece: the header of the oldest post, or complete elements.
     *
     * @param max largest number of bytes
     * @return number of bytes; 0 if neither the header nor an element fits, or if no post is pending
     */
    public int piece(int max) {
        if (isEmpty() || max <= 0) {
            return 0;
        }
        if (isAtHeader()) {
            return max < WireHeader.BYTES ? 0 : WireHeader.BYTES;
        }
        return (int) Math.min(max, oldest().length() - position) & -oldest().elementBytes();
    }

    /**
     * Writes the next piece of the oldest post to a medium's memory. The caller then passes the number of bytes to
     * {@link #advance}.
     *
     * @param into the medium's memory
     * @param at   first byte in the medium's memory, of any alignment
     * @param max  largest number of bytes
     * @return number of bytes, as {@link #piece} returns it
     */
    public int write(TypedViews into, int at, int max) {
        int bytes = piece(max);
        if (bytes == 0) {
            return 0;
        }
        Post post = oldest();
        if (isAtHeader()) {
            WireHeader.put(post.call(), into.bytes(), at);
        } else {
            into.write(post.type(), at, post.memory(position), post.place(position), post.elements(bytes));
        }
        return bytes;
    }

    /**
     * Reads the next piece of the oldest post from a medium's memory. The piece is a header to compare, or elements to
     * copy or combine. The caller then passes the number of bytes to {@link #advance}. If the kernel combines records,
     * the beginning of a record is kept until the end of the record arrives.
     *
     * @param from the medium's memory
     * @param at   first byte in the medium's memory, of any alignment
     * @param max  number of bytes that have arrived
     * @return number of bytes, as {@link #piece} returns it; 0 if the header is unexpected
     */
    public int read(TypedViews from, int at, int max) {
        int bytes = piece(max);
        if (bytes == 0) {
            return 0;
        }
        Post post = oldest();
        if (isAtHeader()) {
            unexpected = WireHeader.other(post.call(), from.bytes(), at);
            return unexpected == null ? bytes : 0;
        }
        int count = post.elements(bytes);
        if (post.kernel() == null) {
            from.read(post.type(), at, post.memory(position), post.place(position), count);
        } else if (post.kernel().recordElements() == 1) {
            post.kernel().combine(post.memory(position), post.place(position), from.bytes(), at, count);
        } else {
            combineRecords(post, from.bytes(), at, count);
        }
        return bytes;
    }

    /**
     * Returns the unexpected header that {@link #read} found, or null. After an unexpected header, no byte moves.
     */
    public CallHeader unexpectedHeader() {
        return unexpected;
    }

    /** Combines records, whose elements are bytes. */
    private void combineRecords(Post post, ByteBuffer source, int first, int count) {
        int record = post.kernel().recordElements();
        long next = position;
        int at = first;
        while (at < first + count) {
            int left = first + count - at;
            int begun = (int) ((next - post.headerBytes()) % record);
            int bytes = begun == 0 && left >= record ? left / record * record : Math.min(record - begun, left);
            if (bytes >= record) {
                post.kernel().combine(post.memory(next), post.place(next), source, at, bytes);
            } else {
                keep(source, at, begun, bytes, record);
                if (begun + bytes == record) {
                    post.kernel().combine(post.memory(next - begun), post.place(next - begun), begunRecord, 0, record);
                }
            }
            next += bytes;
            at += bytes;
        }
    }

    private void keep(ByteBuffer source, int at, int begun, int bytes, int record) {
        if (begunRecord == null || begunRecord.length < record) {
            begunRecord = new byte[record];
        }
        source.get(at, begunRecord, begun, bytes);
    }

    /** Counts bytes of the oldest post as moved. With its last byte, the post counts as finished. */
    public void advance(long bytes) {
        position += bytes;
        settle();
    }

    /** Returns the number of the call that the oldest post belongs to; 0 if nothing is posted. */
    public long sequence() {
        return isEmpty() ? 0 : oldest().call().sequence();
    }

    /**
     * Describes the progress of the posts of a link, for a message.
     *
     * @param receives  receives of the link
     * @param restBytes bytes of the oldest receive that have arrived but not moved
     * @param sends     sends of the link
     * @return text such as {@code 64 of 256 bytes received, 2 receives and 1 sends unfinished}
     */
    public static String progress(PostRing receives, int restBytes, PostRing sends) {
        String oldest = "";
        if (!receives.isEmpty()) {
            int header = receives.oldest().headerBytes();
            oldest = Math.max(0, receives.position() + restBytes - header) + " of "
                    + (receives.oldest().length() - header) + " bytes received, ";
        }
        return oldest + receives.size() + " receives and " + sends.size() + " sends unfinished";
    }

    /** Drops every pending post. The dropped posts do not count as finished. */
    public void clear() {
        while (size > 0) {
            drop();
        }
        position = 0;
        isUsed = false;
    }

    private void settle() {
        while (size > 0 && position == oldest().length()) {
            drop();
            position = 0;
            finished++;
        }
    }

    private void drop() {
        posts[first].clear();
        first = (first + 1) & (posts.length - 1);
        size--;
    }

    private void grow() {
        Post[] larger = new Post[posts.length * 2];
        for (int i = 0; i < size; i++) {
            larger[i] = pending(i);
        }
        first = 0;
        posts = made(larger, size);
    }

    private static Post[] made(Post[] posts, int from) {
        for (int i = from; i < posts.length; i++) {
            posts[i] = new Post();
        }
        return posts;
    }
}
