package ferro;

import java.util.Objects;

/**
 * A send, a receive or a probe, for {@link CollectiveBackend#submit(Message, CallOptions)}. Immutable.
 *
 * <p>Messages have no sequence number, and all pending messages make progress at the same time. A send matches a
 * receive with the same peers and tag. The labels of send and receive may differ. The {@link Work#status} of a receive,
 * a probe or a match describes the message. {@link Work#cancel} ends a receive, a probe or a match that has no message
 * yet.
 */
public final class Message {
    private final MessageKind kind;
    private final Tensor tensor;
    private final int peer;
    private final int tag;
    private final Work matched;

    private Message(MessageKind kind, Tensor tensor, int peer, int tag, Work matched) {
        this.kind = kind;
        this.tensor = tensor;
        this.peer = peer;
        this.tag = tag;
        this.matched = matched;
    }

    /**
     * Returns a send.
     *
     * @param data data to send
     * @param to   destination rank
     * @param tag  0 or greater
     * @return send
     */
    public static Message send(Tensor data, int to, int tag) {
        return new Message(MessageKind.SEND, Objects.requireNonNull(data, "data"), to, tag, null);
    }

    /**
     * Returns a send of any length that ends only after a receive has matched the message.
     *
     * @param data data to send
     * @param to   destination rank
     * @param tag  0 or greater
     * @return send
     */
    public static Message sendUntilMatched(Tensor data, int to, int tag) {
        return new Message(MessageKind.SEND_UNTIL_MATCHED, Objects.requireNonNull(data, "data"), to, tag, null);
    }

    /**
     * Returns a receive.
     *
     * @param data memory to fill
     * @param from source rank, or {@link CollectiveBackend#ANY_SOURCE}
     * @param tag  0 or greater, or {@link CollectiveBackend#ANY_TAG}
     * @return receive
     */
    public static Message recv(Tensor data, int from, int tag) {
        return new Message(MessageKind.RECEIVE, Objects.requireNonNull(data, "data"), from, tag, null);
    }

    /**
     * Returns a receive of a message that may be shorter than the tensor. The message fills the first elements, and the
     * other elements stay unchanged. A message that is longer than the tensor fails the group with MISMATCH before
     * anything is written.
     *
     * @param data memory to fill
     * @param from source rank, or {@link CollectiveBackend#ANY_SOURCE}
     * @param tag  0 or greater, or {@link CollectiveBackend#ANY_TAG}
     * @return receive
     */
    public static Message recvUpTo(Tensor data, int from, int tag) {
        return new Message(MessageKind.RECEIVE_UP_TO, Objects.requireNonNull(data, "data"), from, tag, null);
    }

    /**
     * Returns a probe, which waits for a message that a receive would take. A probe does not take the message.
     *
     * @param from source rank, or {@link CollectiveBackend#ANY_SOURCE}
     * @param tag  0 or greater, or {@link CollectiveBackend#ANY_TAG}
     * @return probe
     */
    public static Message probe(int from, int tag) {
        return new Message(MessageKind.PROBE, null, from, tag, null);
    }

    /**
     * Returns a match, which takes a message without its elements. No other receive takes a matched message.
     * {@link #recvMatched} receives the elements of the matched message.
     *
     * @param from source rank, or {@link CollectiveBackend#ANY_SOURCE}
     * @param tag  0 or greater, or {@link CollectiveBackend#ANY_TAG}
     * @return match
     */
    public static Message match(int from, int tag) {
        return new Message(MessageKind.MATCH, null, from, tag, null);
    }

    /**
     * Returns the receive of a message that a match has taken. The message fills the first elements of the tensor.
     *
     * @param matched handle of the match, which has ended
     * @param data    memory to fill, at least as long as the message
     * @return receive; its peer and tag are the peer and tag of the message
     */
    public static Message recvMatched(Work matched, Tensor data) {
        Objects.requireNonNull(data, "data");
        MessageStatus taken =
                Objects.requireNonNull(matched, "matched").status().orElse(null);
        int from = taken == null ? CollectiveBackend.ANY_SOURCE : taken.source();
        int tag = taken == null ? CollectiveBackend.ANY_TAG : taken.tag();
        return new Message(MessageKind.RECEIVE_MATCHED, data, from, tag, matched);
    }

    /** {@return the kind of message: send, receive, probe or match} */
    public MessageKind kind() {
        return kind;
    }

    /** {@return the data to send, or the memory that a receive fills; null for a probe and a match} */
    public Tensor tensor() {
        return tensor;
    }

    /** {@return the peer, or {@link CollectiveBackend#ANY_SOURCE}} */
    public int peer() {
        return peer;
    }

    /** {@return the tag, or {@link CollectiveBackend#ANY_TAG}} */
    public int tag() {
        return tag;
    }

    /** {@return the handle of the match whose message is received; null for all other kinds} */
    public Work matched() {
        return matched;
    }

    /**
     * Returns a copy of this message with another tensor, for a decorator that copies the elements.
     *
     * @param other tensor in place of {@link #tensor}
     * @return message
     */
    public Message on(Tensor other) {
        return new Message(kind, Objects.requireNonNull(other, "other"), peer, tag, matched);
    }

    /**
     * Refuses every message that is not a plain send or receive. A back end calls this method if its messages do not
     * carry their length, and its sends are not notified of their receives.
     *
     * @param backend back end that refuses
     * @param options options of the call
     * @throws UnsupportedOperationException unless this is a {@link MessageKind#SEND} or a {@link MessageKind#RECEIVE}
     */
    public void requirePlain(CollectiveBackend backend, CallOptions options) {
        Objects.requireNonNull(backend, "backend");
        Objects.requireNonNull(options, "options");
        if (kind == MessageKind.SEND || kind == MessageKind.RECEIVE) {
            return;
        }
        String found = backend.getClass().getSimpleName();
        throw new UnsupportedOperationException(options.named(kind.toString()) + " on rank " + backend.rank() + ": "
                + (kind.isSend()
                        ? "a send of " + found + " ends without news of its receive; wait for an answer of the receiver"
                        : "messages of " + found
                                + " do not carry their length; receive exactly as many elements as the peer sends")
                + ", or use a back end that runs on ferro's engine");
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Message that
                && kind == that.kind
                && Objects.equals(tensor, that.tensor)
                && peer == that.peer
                && tag == that.tag
                && matched == that.matched;
    }

    @Override
    public int hashCode() {
        return Objects.hash(kind, tensor, peer, tag);
    }

    /** Returns a text for people, such as {@code recv of f32[1000] with peer 3 and tag 7}. */
    @Override
    public String toString() {
        return kind + (tensor == null ? "" : " of " + tensor) + " with peer " + peer + " and tag " + tag;
    }
}
