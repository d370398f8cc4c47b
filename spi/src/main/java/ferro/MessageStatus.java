package ferro;

import java.util.Objects;

/**
 * The sender, the tag and the size of a message that a receive has received. Immutable.
 *
 * {@snippet file="ferro/examples/snippets/MessageSnippetsTest.java" region="status" :
 *
 * float[] buffer = new float[1000];
 * MessageStatus status = group.recvUpTo(HostTensor.of(buffer), 1, 0);
 * float[] received = Arrays.copyOf(buffer, (int) status.elements());
 * }
 */
public final class MessageStatus {
    private final int source;
    private final int tag;
    private final DataType type;
    private final long bytes;

    private MessageStatus(int source, int tag, DataType type, long bytes) {
        this.source = source;
        this.tag = tag;
        this.type = type;
        this.bytes = bytes;
    }

    /**
     * Returns the status of a message, for implementers of back ends.
     *
     * @param source rank that has sent the message
     * @param tag    tag of the send
     * @param type   element type of the send
     * @param bytes  size of the message in bytes
     * @return status
     * @throws IllegalArgumentException if the rank or the size is negative, or the size is not a number of whole
     *     elements
     */
    public static MessageStatus of(int source, int tag, DataType type, long bytes) {
        Objects.requireNonNull(type, "type");
        if (source < 0 || bytes < 0 || bytes % type.byteSize() != 0) {
            throw new IllegalArgumentException("a message of rank " + source + " with " + bytes + " bytes of "
                    + type.label() + ": need a rank of at least 0, and whole elements of " + type.byteSize()
                    + " bytes");
        }
        return new MessageStatus(source, tag, type, bytes);
    }

    /** {@return the rank of the group that has sent the message} */
    public int source() {
        return source;
    }

    /** {@return the tag of the send} */
    public int tag() {
        return tag;
    }

    /**
     * {@return the element type of the send; the receive has the same type, unless the send or the receive has bytes}
     */
    public DataType type() {
        return type;
    }

    /** {@return the number of elements of the message, in elements of {@link #type}} */
    public long elements() {
        return bytes / type.byteSize();
    }

    /** {@return the number of bytes of the message} */
    public long bytes() {
        return bytes;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof MessageStatus status
                && source == status.source
                && tag == status.tag
                && type == status.type
                && bytes == status.bytes;
    }

    @Override
    public int hashCode() {
        return Objects.hash(source, tag, type, bytes);
    }

    /** Returns a text for people, such as {@code f32[1000] from rank 3 with tag 7}. */
    @Override
    public String toString() {
        return type.label() + "[" + elements() + "] from rank " + source + " with tag " + tag;
    }
}
