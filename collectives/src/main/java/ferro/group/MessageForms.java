package ferro.group;

import static java.util.Objects.requireNonNull;

import ferro.CallOptions;
import ferro.HostTensor;
import ferro.InvalidRankException;
import ferro.MessageStatus;
import ferro.Tensor;
import ferro.Work;
import java.util.Optional;

/** The forms of {@link ProcessGroup} that send and receive tensors. */
abstract class MessageForms extends ScanArrayForms {
    MessageForms(GroupCore end, CallOptions options) {
        super(end, options);
    }

    /**
     * Sends a message, and returns when {@code data} may be used again. Messages are not part of the order of
     * collectives. Messages of one tag from one rank to another arrive in the order in which they were sent.
     *
     * <p>A message above 64 KiB waits for its receive. A message of at most 64 KiB does not wait for its receive. A
     * message of at most 64 KiB waits only if the receiver has no buffer for it:
     * <ul>
     *   <li>A receiver that waits in a call of this group buffers up to 16 MiB of messages from one sender that no
     *       receive has matched ({@code ferro.message.buffer}). Each message counts as its elements and 256 more bytes.
     *   <li>A receiver that is in no call of this group reads no messages. Messages that the receiver does not read
     *       stay in the buffers of the link. A link in shared memory has buffers of 8 to 256 KiB, and a link over TCP
     *       has the buffers of its sockets.
     * </ul>
     * A send that still waits at its deadline fails the group with TIMED_OUT.
     *
     * {@snippet file="ferro/examples/snippets/ProcessGroupSnippetsTest.java" region="messages" :
     *
     * int next = (group.rank() + 1) % group.worldSize();
     * int previous = (group.rank() + group.worldSize() - 1) % group.worldSize();
     * Work sent = group.sendAsync(own, next, 0);
     * group.recv(received, previous, 0);
     * sent.await();
     * }
     *
     * @param data elements
     * @param to   rank that receives; may be this rank
     * @param tag  0 or more; the receive must have the same tag
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code to} is no rank of the group
     *     ({@link InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group fails or has failed
     */
    public final void send(Tensor data, int to, int tag) {
        sent(data, to, tag);
    }

    /**
     * Starts a send, and does not wait for the receiver.
     *
     * @param data elements; must not be used until the work is done
     * @param to   rank that receives; may be this rank
     * @param tag  0 or more; the receive must have the same tag
     * @return handle; done when {@code data} may be used again
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code to} is no rank of the group
     *     ({@link InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws later failures
     */
    public final Work sendAsync(Tensor data, int to, int tag) {
        return sending(data, to, tag);
    }

    /**
     * Sends a message, and returns only after a receive has matched it. So after this call, the receiver has come to its
     * receive.
     *
     * {@snippet file="ferro/examples/snippets/MessageSnippetsTest.java" region="untilMatched" :
     *
     * group.sendUntilMatched(HostTensor.of(table), 1, 0); // rank 1 has come to its receive
     * }
     *
     * <p>A match by {@link #match} is not enough: the send ends when the matched message is received.
     *
     * @param data elements
     * @param to   rank that receives; may be this rank
     * @param tag  0 or more; the receive must have the same tag
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code to} is no rank of the group
     *     ({@link InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if {@code data} is on a device, or the back end does not know when a send is
     *     matched
     * @throws ferro.FerroException          if the group fails or has failed; TIMED_OUT if no receive comes by the deadline
     */
    public final void sendUntilMatched(Tensor data, int to, int tag) {
        sentUntilMatched(data, to, tag);
    }

    /**
     * Starts a send whose work is done only after a receive has matched the message.
     *
     * @param data elements; must not be used until the work is done
     * @param to   rank that receives; may be this rank
     * @param tag  0 or more; the receive must have the same tag
     * @return handle; done when the message is matched and {@code data} may be used again
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code to} is no rank of the group
     *     ({@link InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if {@code data} is on a device, or the back end does not know when a send is
     *     matched
     * @throws ferro.FerroException          if the group has failed; the handle throws later failures
     */
    public final Work sendUntilMatchedAsync(Tensor data, int to, int tag) {
        return sendingUntilMatched(data, to, tag);
    }

    /**
     * Sends one message and receives another one at the same time. Ranks that all send and receive in this way never wait
     * for each other in a circle.
     *
     * {@snippet file="ferro/examples/snippets/MessageSnippetsTest.java" region="sendReceive" :
     *
     * int next = (group.rank() + 1) % group.worldSize();
     * int previous = (group.rank() + group.worldSize() - 1) % group.worldSize();
     * group.sendReceive(own, next, received, previous, 0);
     * }
     *
     * @param sent     elements to send
     * @param to       rank that receives them; may be this rank
     * @param received receives the elements of the other message, exactly as many; must not overlap {@code sent}
     * @param from     rank that sends them, which may be this rank; or {@link ProcessGroup#ANY_SOURCE}
     * @param tag      tag of both messages, 0 or more
     * @return sender, tag and size of the received message
     * @throws IllegalArgumentException      if {@code tag} is negative, a rank is no rank of the group
     *     ({@link InvalidRankException}), or the tensors overlap
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if a tensor is on a device, or the back end runs messages one after another
     * @throws ferro.FerroException          if no message arrives, or the group fails or has failed; MISMATCH if the
     *     message has another type or length
     */
    public final MessageStatus sendReceive(Tensor sent, int to, Tensor received, int from, int tag) {
        return exchanged(requireNonNull(sent, "sent"), to, requireNonNull(received, "received"), from, tag);
    }

    /**
     * Sends the elements of a tensor, and receives a message into the same tensor. The elements are copied before they are
     * sent.
     *
     * @param data elements to send; then the elements of the received message, which has the same type and length
     * @param to   rank that receives the elements; may be this rank
     * @param from rank that sends the other message, which may be this rank; or {@link ProcessGroup#ANY_SOURCE}
     * @param tag  tag of both messages, 0 or more
     * @return sender, tag and size of the received message
     * @throws IllegalArgumentException      if {@code tag} is negative, or a rank is no rank of the group
     *     ({@link InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if {@code data} is on a device, or the back end runs messages one after another
     * @throws ferro.FerroException          if no message arrives, or the group fails or has failed; MISMATCH if the
     *     message has another type or length
     */
    public final MessageStatus sendReceiveReplace(Tensor data, int to, int from, int tag) {
        refuseExchange(requireNonNull(data, "data"), data);
        HostTensor copy = HostTensor.allocate(data.dataType(), data.elementCount());
        copy.copyFrom(0, (HostTensor) data, 0, data.elementCount());
        return exchanged(copy, to, data, from, tag);
    }

    /**
     * Receives a message. Messages with other tags may have been sent before this message. If no message matches the
     * receive by its deadline, the receive fails with TIMED_OUT and the group continues.
     *
     * <p>{@link ProcessGroup#ANY_SOURCE} in place of {@code from} takes a message of any rank, and {@link ProcessGroup#ANY_TAG} in
     * place of {@code tag} a message with any tag:
     *
     * {@snippet file="ferro/examples/snippets/MessageSnippetsTest.java" region="any" :
     *
     * int[] task = new int[1];
     * MessageStatus status = group.recv(task, ProcessGroup.ANY_SOURCE, ProcessGroup.ANY_TAG);
     * group.send(task, status.source(), status.tag());
     * }
     *
     * <ul>
     *   <li>Messages of one rank with one tag are taken in the order in which they were sent. If several receives take a
     *       message, the receive that was posted first gets the message.
     *   <li>If messages of several ranks wait, no rank is passed over more often than there are ranks.
     *   <li>While a rank can still send, the receive goes on when other ranks leave. When all other ranks have left and no
     *       message of theirs is left for the receive, the group fails with PEER_LOST.
     *   <li>At the deadline, no rank is blamed unless every other rank waits too, so that no message can come.
     * </ul>
     *
     * @param data receives the elements; its size must be exactly the size of the message
     * @param from rank that sends, which may be this rank; or {@link ProcessGroup#ANY_SOURCE}
     * @param tag  tag of the send, or {@link ProcessGroup#ANY_TAG}
     * @return sender, tag and size of the message
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code from} is no rank of the group
     *     ({@link InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if no message arrives, or the group fails or has failed; MISMATCH if the
     *     message has another type or length
     */
    public final MessageStatus recv(Tensor data, int from, int tag) {
        return received(data, from, tag);
    }

    /**
     * Starts a receive, and does not wait for the sender.
     *
     * @param data receives the elements; must not be used until the work is done
     * @param from rank that sends, which may be this rank; or {@link ProcessGroup#ANY_SOURCE}
     * @param tag  tag of the send, or {@link ProcessGroup#ANY_TAG}
     * @return handle; done when the elements have arrived in {@code data}. Its {@link Work#status} describes the message
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code from} is no rank of the group
     *     ({@link InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws later failures
     */
    public final Work recvAsync(Tensor data, int from, int tag) {
        return receiving(data, from, tag);
    }

    /**
     * Receives a message that may be shorter than {@code data}. The message fills the first elements of {@code data}.
     * The other elements stay unchanged. If the message is longer, the group fails with MISMATCH, and {@code data} stays
     * unchanged.
     *
     * {@snippet file="ferro/examples/snippets/MessageSnippetsTest.java" region="status" :
     *
     * float[] buffer = new float[1000];
     * MessageStatus status = group.recvUpTo(HostTensor.of(buffer), 1, 0);
     * float[] received = Arrays.copyOf(buffer, (int) status.elements());
     * }
     *
     * @param data receives the elements; at least as long as the message
     * @param from rank that sends, which may be this rank; or {@link ProcessGroup#ANY_SOURCE}
     * @param tag  tag of the send, or {@link ProcessGroup#ANY_TAG}
     * @return sender, tag and size of the message
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code from} is no rank of the group
     *     ({@link InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if {@code data} is on a device, or messages of the back end do not carry their
     *     length
     * @throws ferro.FerroException          if no message arrives, or the group fails or has failed; MISMATCH if the
     *     message has another type or is longer than {@code data}
     */
    public final MessageStatus recvUpTo(Tensor data, int from, int tag) {
        return receivedUpTo(data, from, tag);
    }

    /**
     * Starts a receive of a message that may be shorter than {@code data}, and does not wait for the sender.
     *
     * @param data receives the elements; at least as long as the message; must not be used until the work is done
     * @param from rank that sends, which may be this rank; or {@link ProcessGroup#ANY_SOURCE}
     * @param tag  tag of the send, or {@link ProcessGroup#ANY_TAG}
     * @return handle; done when the elements have arrived in {@code data}. Its {@link Work#status} says how many
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code from} is no rank of the group
     *     ({@link InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if {@code data} is on a device, or messages of the back end do not carry their
     *     length
     * @throws ferro.FerroException          if the group has failed; the handle throws later failures, MISMATCH if the
     *     message has another type or is longer than {@code data}
     */
    public final Work recvUpToAsync(Tensor data, int from, int tag) {
        return receivingUpTo(data, from, tag);
    }

    /**
     * Waits for a message, and does not take it. To receive this message, name the source and the tag of the status: after
     * a probe from {@link ProcessGroup#ANY_SOURCE}, a receive from any rank may take a message of another rank. The next
     * receive that takes this message may also be on another thread: use {@link #match} where several threads receive. A
     * probe that no message ends by its deadline fails with TIMED_OUT, and the group continues. The blocking sender of a
     * message above 64 KiB waits until the message is received.
     *
     * @param from rank that sends, which may be this rank; or {@link ProcessGroup#ANY_SOURCE}
     * @param tag  tag of the send, or {@link ProcessGroup#ANY_TAG}
     * @return sender, tag and size of the message
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code from} is no rank of the group
     *     ({@link InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if messages of the back end do not carry their length
     * @throws ferro.FerroException          if no message arrives, or the group fails or has failed
     */
    public final MessageStatus probe(int from, int tag) {
        Work probe = probing(from, tag);
        probe.await();
        return probe.status().orElseThrow();
    }

    /**
     * Looks for a message, and neither waits for it nor takes it. A message that has arrived is found by one of the next
     * calls at the latest.
     *
     * @param from rank that sends, which may be this rank; or {@link ProcessGroup#ANY_SOURCE}
     * @param tag  tag of the send, or {@link ProcessGroup#ANY_TAG}
     * @return sender, tag and size of the message; empty if no message is there
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code from} is no rank of the group
     *     ({@link InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if messages of the back end do not carry their length
     * @throws ferro.FerroException          if the group has failed
     */
    public final Optional<MessageStatus> probeNow(int from, int tag) {
        return statusNow(probing(from, tag));
    }

    /**
     * Waits for a message and takes it, so that no other receive, probe or match gets it. The elements are received
     * afterwards, in any order of several matched messages. Until then, the blocking sender of a message above 64 KiB
     * waits.
     *
     * {@snippet file="ferro/examples/snippets/MessageSnippetsTest.java" region="match" :
     *
     * MatchedMessage matched = group.match(ProcessGroup.ANY_SOURCE, 0);
     * float[] received = new float[(int) matched.status().elements()];
     * matched.recv(HostTensor.of(received));
     * }
     *
     * @param from rank that sends, which may be this rank; or {@link ProcessGroup#ANY_SOURCE}
     * @param tag  tag of the send, or {@link ProcessGroup#ANY_TAG}
     * @return message without its elements
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code from} is no rank of the group
     *     ({@link InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if messages of the back end do not carry their length
     * @throws ferro.FerroException          if no message arrives, or the group fails or has failed
     */
    public final MatchedMessage match(int from, int tag) {
        Work match = matching(from, tag);
        match.await();
        return matched(match);
    }

    /**
     * Takes a message if one is there, and does not wait. A message that has arrived is found by one of the next calls at
     * the latest.
     *
     * @param from rank that sends, which may be this rank; or {@link ProcessGroup#ANY_SOURCE}
     * @param tag  tag of the send, or {@link ProcessGroup#ANY_TAG}
     * @return message without its elements; empty if no message is there
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code from} is no rank of the group
     *     ({@link InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if messages of the back end do not carry their length
     * @throws ferro.FerroException          if the group has failed
     */
    public final Optional<MatchedMessage> matchNow(int from, int tag) {
        Work match = matching(from, tag);
        return statusNow(match).map(status -> matched(match));
    }
}
