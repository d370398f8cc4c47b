// Made from array-forms.template by Expand.java: change that, not this file.
package ferro.group;

import static ferro.HostTensor.of;
import static java.util.Objects.requireNonNull;

import ferro.CallOptions;
import ferro.MessageStatus;
import ferro.Work;

/**
 * The forms of {@link ProcessGroup} that send and receive arrays. Each form wraps the array without a copy and does the
 * same as the form of this name in {@link MessageForms}.
 */
abstract class ArrayMessages extends GroupCalls {
    ArrayMessages(GroupCore end, CallOptions options) {
        super(end, options);
    }

    /**
     * Sends a message, and returns when the array may be used again. A message above 64 KiB waits for its receive. A
     * message of at most 64 KiB waits only if the receiver has no buffer for it. The elements are f32.
     * {@link ProcessGroup#send(ferro.Tensor, int, int) send} is the same on a tensor, and describes the receive buffers.
     *
     * @param data elements
     * @param to   rank that receives
     * @param tag  0 or more; the receive must have the same tag
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code to} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group fails or has failed
     */
    public final void send(float[] data, int to, int tag) {
        sent(of(requireNonNull(data, "data")), to, tag);
    }

    /**
     * Sends a message, and returns when the array may be used again. A message above 64 KiB waits for its receive. A
     * message of at most 64 KiB waits only if the receiver has no buffer for it. The elements are f64.
     * {@link ProcessGroup#send(ferro.Tensor, int, int) send} is the same on a tensor, and describes the receive buffers.
     *
     * @param data elements
     * @param to   rank that receives
     * @param tag  0 or more; the receive must have the same tag
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code to} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group fails or has failed
     */
    public final void send(double[] data, int to, int tag) {
        sent(of(requireNonNull(data, "data")), to, tag);
    }

    /**
     * Sends a message, and returns when the array may be used again. A message above 64 KiB waits for its receive. A
     * message of at most 64 KiB waits only if the receiver has no buffer for it. The elements are i32.
     * {@link ProcessGroup#send(ferro.Tensor, int, int) send} is the same on a tensor, and describes the receive buffers.
     *
     * @param data elements
     * @param to   rank that receives
     * @param tag  0 or more; the receive must have the same tag
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code to} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group fails or has failed
     */
    public final void send(int[] data, int to, int tag) {
        sent(of(requireNonNull(data, "data")), to, tag);
    }

    /**
     * Sends a message, and returns when the array may be used again. A message above 64 KiB waits for its receive. A
     * message of at most 64 KiB waits only if the receiver has no buffer for it. The elements are i64.
     * {@link ProcessGroup#send(ferro.Tensor, int, int) send} is the same on a tensor, and describes the receive buffers.
     *
     * @param data elements
     * @param to   rank that receives
     * @param tag  0 or more; the receive must have the same tag
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code to} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group fails or has failed
     */
    public final void send(long[] data, int to, int tag) {
        sent(of(requireNonNull(data, "data")), to, tag);
    }

    /**
     * Sends a message, and returns when the array may be used again. A message above 64 KiB waits for its receive. A
     * message of at most 64 KiB waits only if the receiver has no buffer for it. The elements are i16.
     * {@link ProcessGroup#send(ferro.Tensor, int, int) send} is the same on a tensor, and describes the receive buffers.
     *
     * @param data elements
     * @param to   rank that receives
     * @param tag  0 or more; the receive must have the same tag
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code to} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group fails or has failed
     */
    public final void send(short[] data, int to, int tag) {
        sent(of(requireNonNull(data, "data")), to, tag);
    }

    /**
     * Sends a message, and returns when the array may be used again. A message above 64 KiB waits for its receive. A
     * message of at most 64 KiB waits only if the receiver has no buffer for it. The elements are i8.
     * {@link ProcessGroup#send(ferro.Tensor, int, int) send} is the same on a tensor, and describes the receive buffers.
     *
     * @param data elements
     * @param to   rank that receives
     * @param tag  0 or more; the receive must have the same tag
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code to} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group fails or has failed
     */
    public final void send(byte[] data, int to, int tag) {
        sent(of(requireNonNull(data, "data")), to, tag);
    }

    /**
     * Starts a send, and does not wait for the receiver. The elements are f32.
     *
     * @param data elements; must not be changed until the work is done
     * @param to   rank that receives; may be this rank
     * @param tag  0 or more; the receive must have the same tag
     * @return handle; done when {@code data} may be changed again
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code to} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws later failures
     */
    public final Work sendAsync(float[] data, int to, int tag) {
        return sending(of(requireNonNull(data, "data")), to, tag);
    }

    /**
     * Starts a send, and does not wait for the receiver. The elements are f64.
     *
     * @param data elements; must not be changed until the work is done
     * @param to   rank that receives; may be this rank
     * @param tag  0 or more; the receive must have the same tag
     * @return handle; done when {@code data} may be changed again
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code to} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws later failures
     */
    public final Work sendAsync(double[] data, int to, int tag) {
        return sending(of(requireNonNull(data, "data")), to, tag);
    }

    /**
     * Starts a send, and does not wait for the receiver. The elements are i32.
     *
     * @param data elements; must not be changed until the work is done
     * @param to   rank that receives; may be this rank
     * @param tag  0 or more; the receive must have the same tag
     * @return handle; done when {@code data} may be changed again
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code to} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws later failures
     */
    public final Work sendAsync(int[] data, int to, int tag) {
        return sending(of(requireNonNull(data, "data")), to, tag);
    }

    /**
     * Starts a send, and does not wait for the receiver. The elements are i64.
     *
     * @param data elements; must not be changed until the work is done
     * @param to   rank that receives; may be this rank
     * @param tag  0 or more; the receive must have the same tag
     * @return handle; done when {@code data} may be changed again
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code to} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws later failures
     */
    public final Work sendAsync(long[] data, int to, int tag) {
        return sending(of(requireNonNull(data, "data")), to, tag);
    }

    /**
     * Starts a send, and does not wait for the receiver. The elements are i16.
     *
     * @param data elements; must not be changed until the work is done
     * @param to   rank that receives; may be this rank
     * @param tag  0 or more; the receive must have the same tag
     * @return handle; done when {@code data} may be changed again
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code to} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws later failures
     */
    public final Work sendAsync(short[] data, int to, int tag) {
        return sending(of(requireNonNull(data, "data")), to, tag);
    }

    /**
     * Starts a send, and does not wait for the receiver. The elements are i8.
     *
     * @param data elements; must not be changed until the work is done
     * @param to   rank that receives; may be this rank
     * @param tag  0 or more; the receive must have the same tag
     * @return handle; done when {@code data} may be changed again
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code to} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws later failures
     */
    public final Work sendAsync(byte[] data, int to, int tag) {
        return sending(of(requireNonNull(data, "data")), to, tag);
    }

    /**
     * Receives a message. Messages with other tags may have been sent before this message. The elements are f32.
     * {@link ProcessGroup#recv(ferro.Tensor, int, int) recv} is the same on a tensor.
     *
     * @param data receives the elements; its length must be exactly the length of the message
     * @param from rank that sends, or {@link ProcessGroup#ANY_SOURCE}
     * @param tag  tag of the send, or {@link ProcessGroup#ANY_TAG}
     * @return sender, tag and size of the message
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code from} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if no message arrives, or the group fails or has failed; MISMATCH if the
     *     message has another type or length
     */
    public final MessageStatus recv(float[] data, int from, int tag) {
        return received(of(requireNonNull(data, "data")), from, tag);
    }

    /**
     * Receives a message. Messages with other tags may have been sent before this message. The elements are f64.
     * {@link ProcessGroup#recv(ferro.Tensor, int, int) recv} is the same on a tensor.
     *
     * @param data receives the elements; its length must be exactly the length of the message
     * @param from rank that sends, or {@link ProcessGroup#ANY_SOURCE}
     * @param tag  tag of the send, or {@link ProcessGroup#ANY_TAG}
     * @return sender, tag and size of the message
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code from} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if no message arrives, or the group fails or has failed; MISMATCH if the
     *     message has another type or length
     */
    public final MessageStatus recv(double[] data, int from, int tag) {
        return received(of(requireNonNull(data, "data")), from, tag);
    }

    /**
     * Receives a message. Messages with other tags may have been sent before this message. The elements are i32.
     * {@link ProcessGroup#recv(ferro.Tensor, int, int) recv} is the same on a tensor.
     *
     * @param data receives the elements; its length must be exactly the length of the message
     * @param from rank that sends, or {@link ProcessGroup#ANY_SOURCE}
     * @param tag  tag of the send, or {@link ProcessGroup#ANY_TAG}
     * @return sender, tag and size of the message
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code from} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if no message arrives, or the group fails or has failed; MISMATCH if the
     *     message has another type or length
     */
    public final MessageStatus recv(int[] data, int from, int tag) {
        return received(of(requireNonNull(data, "data")), from, tag);
    }

    /**
     * Receives a message. Messages with other tags may have been sent before this message. The elements are i64.
     * {@link ProcessGroup#recv(ferro.Tensor, int, int) recv} is the same on a tensor.
     *
     * @param data receives the elements; its length must be exactly the length of the message
     * @param from rank that sends, or {@link ProcessGroup#ANY_SOURCE}
     * @param tag  tag of the send, or {@link ProcessGroup#ANY_TAG}
     * @return sender, tag and size of the message
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code from} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if no message arrives, or the group fails or has failed; MISMATCH if the
     *     message has another type or length
     */
    public final MessageStatus recv(long[] data, int from, int tag) {
        return received(of(requireNonNull(data, "data")), from, tag);
    }

    /**
     * Receives a message. Messages with other tags may have been sent before this message. The elements are i16.
     * {@link ProcessGroup#recv(ferro.Tensor, int, int) recv} is the same on a tensor.
     *
     * @param data receives the elements; its length must be exactly the length of the message
     * @param from rank that sends, or {@link ProcessGroup#ANY_SOURCE}
     * @param tag  tag of the send, or {@link ProcessGroup#ANY_TAG}
     * @return sender, tag and size of the message
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code from} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if no message arrives, or the group fails or has failed; MISMATCH if the
     *     message has another type or length
     */
    public final MessageStatus recv(short[] data, int from, int tag) {
        return received(of(requireNonNull(data, "data")), from, tag);
    }

    /**
     * Receives a message. Messages with other tags may have been sent before this message. The elements are i8.
     * {@link ProcessGroup#recv(ferro.Tensor, int, int) recv} is the same on a tensor.
     *
     * @param data receives the elements; its length must be exactly the length of the message
     * @param from rank that sends, or {@link ProcessGroup#ANY_SOURCE}
     * @param tag  tag of the send, or {@link ProcessGroup#ANY_TAG}
     * @return sender, tag and size of the message
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code from} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if no message arrives, or the group fails or has failed; MISMATCH if the
     *     message has another type or length
     */
    public final MessageStatus recv(byte[] data, int from, int tag) {
        return received(of(requireNonNull(data, "data")), from, tag);
    }

    /**
     * Starts a receive, and does not wait for the sender. The elements are f32.
     *
     * @param data receives the elements; must not be used until the work is done
     * @param from rank that sends, which may be this rank; or {@link ProcessGroup#ANY_SOURCE}
     * @param tag  tag of the send, or {@link ProcessGroup#ANY_TAG}
     * @return handle; done when the elements have arrived in {@code data}
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code from} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws later failures, MISMATCH if the
     *     message has another type or length
     */
    public final Work recvAsync(float[] data, int from, int tag) {
        return receiving(of(requireNonNull(data, "data")), from, tag);
    }

    /**
     * Starts a receive, and does not wait for the sender. The elements are f64.
     *
     * @param data receives the elements; must not be used until the work is done
     * @param from rank that sends, which may be this rank; or {@link ProcessGroup#ANY_SOURCE}
     * @param tag  tag of the send, or {@link ProcessGroup#ANY_TAG}
     * @return handle; done when the elements have arrived in {@code data}
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code from} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws later failures, MISMATCH if the
     *     message has another type or length
     */
    public final Work recvAsync(double[] data, int from, int tag) {
        return receiving(of(requireNonNull(data, "data")), from, tag);
    }

    /**
     * Starts a receive, and does not wait for the sender. The elements are i32.
     *
     * @param data receives the elements; must not be used until the work is done
     * @param from rank that sends, which may be this rank; or {@link ProcessGroup#ANY_SOURCE}
     * @param tag  tag of the send, or {@link ProcessGroup#ANY_TAG}
     * @return handle; done when the elements have arrived in {@code data}
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code from} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws later failures, MISMATCH if the
     *     message has another type or length
     */
    public final Work recvAsync(int[] data, int from, int tag) {
        return receiving(of(requireNonNull(data, "data")), from, tag);
    }

    /**
     * Starts a receive, and does not wait for the sender. The elements are i64.
     *
     * @param data receives the elements; must not be used until the work is done
     * @param from rank that sends, which may be this rank; or {@link ProcessGroup#ANY_SOURCE}
     * @param tag  tag of the send, or {@link ProcessGroup#ANY_TAG}
     * @return handle; done when the elements have arrived in {@code data}
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code from} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws later failures, MISMATCH if the
     *     message has another type or length
     */
    public final Work recvAsync(long[] data, int from, int tag) {
        return receiving(of(requireNonNull(data, "data")), from, tag);
    }

    /**
     * Starts a receive, and does not wait for the sender. The elements are i16.
     *
     * @param data receives the elements; must not be used until the work is done
     * @param from rank that sends, which may be this rank; or {@link ProcessGroup#ANY_SOURCE}
     * @param tag  tag of the send, or {@link ProcessGroup#ANY_TAG}
     * @return handle; done when the elements have arrived in {@code data}
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code from} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws later failures, MISMATCH if the
     *     message has another type or length
     */
    public final Work recvAsync(short[] data, int from, int tag) {
        return receiving(of(requireNonNull(data, "data")), from, tag);
    }

    /**
     * Starts a receive, and does not wait for the sender. The elements are i8.
     *
     * @param data receives the elements; must not be used until the work is done
     * @param from rank that sends, which may be this rank; or {@link ProcessGroup#ANY_SOURCE}
     * @param tag  tag of the send, or {@link ProcessGroup#ANY_TAG}
     * @return handle; done when the elements have arrived in {@code data}
     * @throws IllegalArgumentException      if {@code tag} is negative, or {@code from} is no rank of the group
     *     ({@link ferro.InvalidRankException})
     * @throws IllegalStateException         if the group is closed
     * @throws UnsupportedOperationException if the back end does not support this call
     * @throws ferro.FerroException          if the group has failed; the handle throws later failures, MISMATCH if the
     *     message has another type or length
     */
    public final Work recvAsync(byte[] data, int from, int tag) {
        return receiving(of(requireNonNull(data, "data")), from, tag);
    }
}
