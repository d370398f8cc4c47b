package ferro.group;

import ferro.CallOptions;
import ferro.CollectiveBackend;
import ferro.HostTensor;
import ferro.Message;
import ferro.MessageStatus;
import ferro.Tensor;
import ferro.Work;

/**
 * A message that {@link ProcessGroup#match} has taken. No other receive, probe or match gets this message. The elements
 * of the message are received once. Thread-safe.
 *
 * {@snippet file="ferro/examples/snippets/MessageSnippetsTest.java" region="match" :
 *
 * MatchedMessage matched = group.match(ProcessGroup.ANY_SOURCE, 0);
 * float[] received = new float[(int) matched.status().elements()];
 * matched.recv(HostTensor.of(received));
 * }
 *
 * <p>A message above 64 KiB waits on its sender until the elements are received. If the elements are never received,
 * the send fails the group with TIMED_OUT at its deadline. A receive of a matched message also fails the group with
 * TIMED_OUT if the receive is not done at its deadline. A message of at most 64 KiB stays in the memory of this rank
 * until the message is received, and does not count against {@code ferro.message.buffer}.
 */
public final class MatchedMessage {
    private final CollectiveBackend way;
    private final CallOptions options;
    private final Work match;

    MatchedMessage(CollectiveBackend way, CallOptions options, Work match) {
        this.way = way;
        this.options = options;
        this.match = match;
    }

    /** {@return the sender, the tag and the size of the message} */
    public MessageStatus status() {
        return match.status().orElseThrow();
    }

    /**
     * Receives the message into a new tensor in direct memory.
     *
     * @return tensor with the type and the number of elements of the message
     * @throws IllegalStateException   if the message was received before, or the group is closed
     * @throws ferro.FerroException    if the group fails or has failed
     */
    public HostTensor recv() {
        HostTensor data = HostTensor.allocate(status().type(), status().elements());
        recv(data);
        return data;
    }

    /**
     * Receives the message. The message fills the first elements of {@code data}, and the other elements stay unchanged.
     *
     * @param data receives the elements; at least as long as the message
     * @throws IllegalArgumentException      if {@code data} has another type or is shorter than the message; the message
     *     can then be received into another tensor
     * @throws IllegalStateException         if the message was received before, or the group is closed
     * @throws UnsupportedOperationException if {@code data} is on a device
     * @throws ferro.FerroException          if the group fails or has failed
     */
    public void recv(Tensor data) {
        way.transfer(Message.recvMatched(match, data), options);
    }

    /**
     * Starts to receive the message, and does not wait for its elements.
     *
     * @param data receives the elements; at least as long as the message; must not be used until the work is done
     * @return handle; done when the elements have arrived in {@code data}
     * @throws IllegalArgumentException      if {@code data} has another type or is shorter than the message; the message
     *     can then be received into another tensor
     * @throws IllegalStateException         if the message was received before, or the group is closed
     * @throws UnsupportedOperationException if {@code data} is on a device
     * @throws ferro.FerroException          if the group has failed; the handle throws later failures
     */
    public Work recvAsync(Tensor data) {
        return way.submit(Message.recvMatched(match, data), options);
    }

    @Override
    public String toString() {
        return "MatchedMessage[" + status() + "]";
    }
}
