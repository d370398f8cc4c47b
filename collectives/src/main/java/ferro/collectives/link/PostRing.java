package ferro.collectives.link;

import ferro.HostTensor;
import ferro.collectives.reduce.Kernel;
import ferro.spi.CallHeader;

/**
 * The posts of one direction of a link, oldest first, and how far the oldest one is. Grows to the largest number ever
 * pending; once warm, a post allocates nothing.
 */
public final class PostRing {
    private static final int FIRST_CAPACITY = 16;

    private Post[] posts = made(new Post[FIRST_CAPACITY], 0);
    private int first;
    private int size;
    /** Bytes of the oldest post that have moved. */
    private long position;

    private long finished;
    private boolean isUsed;
    private long lastSequence;

    /** Makes an empty ring. */
    public PostRing() {}

    /**
     * Returns whether nothing is pending.
     *
     * @return whether every post is finished
     */
    public boolean isEmpty() {
        return size == 0;
    }

    /**
     * Returns how many posts are pending.
     *
     * @return posts that are not finished
     */
    public int size() {
        return size;
    }

    /**
     * Returns how many posts are finished.
     *
     * @return posts ever finished
     */
    public long finished() {
        return finished;
    }

    /**
     * Returns the post to move next.
     *
     * @return first pending post; there must be one
     */
    public Post oldest() {
        return posts[first];
    }

    /**
     * Returns a pending post.
     *
     * @param i how many are older
     * @return post
     */
    public Post pending(int i) {
        return posts[(first + i) & (posts.length - 1)];
    }

    /**
     * Returns how many bytes of the oldest post have moved.
     *
     * @return bytes of it that have moved, header included
     */
    public long position() {
        return position;
    }

    /**
     * Appends a post. The first post of a call (with another sequence than the last post) has the header in front.
     *
     * @param call  whose data it is
     * @param data  memory
     * @param from  first element
     * @param count elements
     * @throws IndexOutOfBoundsException if the elements are not inside the memory
     */
    public void add(CallHeader call, HostTensor data, long from, long count) {
        add(call, data, from, count, null);
    }

    /**
     * As {@link #add(CallHeader, HostTensor, long, long)}, for a receive that combines.
     *
     * @param call   whose data is expected
     * @param data   memory
     * @param from   first element
     * @param count  elements
     * @param kernel how; null to copy
     * @throws IndexOutOfBoundsException if the elements are not inside the memory
     */
    public void add(CallHeader call, HostTensor data, long from, long count, Kernel kernel) {
        if (size == posts.length) {
            grow();
        }
        Post post = pending(size);
        post.fill(call, !isUsed || lastSequence != call.sequence(), data, from, count);
        post.combineWith(kernel);
        isUsed = true;
        lastSequence = call.sequence();
        size++;
        settle();
    }

    /**
     * Counts bytes of the oldest post as moved, and counts the post as finished with its last byte.
     *
     * @param bytes at most what is left of it
     */
    public void advance(long bytes) {
        position += bytes;
        settle();
    }

    /**
     * Returns the number of the call that the oldest post belongs to.
     *
     * @return sequence, 0 where nothing is posted
     */
    public long sequence() {
        return isEmpty() ? 0 : oldest().call().sequence();
    }

    /**
     * Describes, for a message, how far the posts of a link are.
     *
     * @param receives  of the link
     * @param restBytes bytes of the oldest receive that have come in addition to those that have moved
     * @param sends     of the link
     * @return such as {@code 64 of 256 bytes received, 2 receives and 1 sends unfinished}
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

    /** Drops every pending post; none of them counts as finished. */
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
