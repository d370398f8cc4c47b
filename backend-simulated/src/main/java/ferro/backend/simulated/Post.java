package ferro.backend.simulated;

import ferro.HostTensor;

/** One send as its receiver meets it; reused, so that a call allocates none. Fields belong to whoever holds the post. */
final class Post {
    /** Whose data it is: numbers, since the sender uses its header again, maybe before a post without elements is taken. */
    long sequence;

    long fingerprint;
    /** Whether the header stands in front and has not been taken. */
    boolean header;
    /** Memory of the sender, or a copy of it in the window; null if there are no elements. */
    HostTensor data;
    /** First element of {@link #data}. */
    long from;
    /** Length of the elements. */
    long bytes;
    /** How many of {@link #bytes} the receiver has taken. */
    long taken;
    /** Bytes of the window that it holds; 0 if it refers to the sender's memory. */
    long window;
    /** The next one of the circle. */
    Post next;

    boolean finished() {
        return !header && taken == bytes;
    }
}
