package ferro.group;

import static ferro.HostTensor.of;
import static java.util.Objects.requireNonNull;

import ferro.DataType;
import ferro.HostTensor;
import ferro.InvalidRankException;
import ferro.MessageStatus;
import ferro.ReduceOp;
import ferro.group.ObjectHeaders.ObjectCall;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.BinaryOperator;
import java.util.function.IntFunction;
import java.util.stream.LongStream;

/**
 * Collectives and messages of objects, such as settings, names, metrics and small results. For large or frequent data use
 * tensors.
 *
 * {@snippet file="ferro/examples/snippets/ObjectSnippetsTest.java" region="objects" :
 *
 * GroupObjects<String> texts = group.objects(Codec.utf8());
 * String run = texts.broadcast(group.rank() == 0 ? "run 17" : null, 0);
 * List<String> hosts = texts.allGather("host of rank " + group.rank());
 * double slowest = texts.allReduce(seconds, ReduceOp.MAX);
 * }
 *
 * <p>{@link #send} and {@link #recv} move one object from one rank to another. All calls other than {@link #send} and
 * {@link #recv} consist of separate collectives. The first collective sends the kind of the call, the limit and the
 * lengths to all ranks. The other collectives move the bytes. Each collective has the deadline of the group. All ranks
 * make the same calls in the same order.
 *
 * <p>Each call throws an {@link IllegalStateException} if the group is closed, or inside {@link ProcessGroup#coalesced
 * ProcessGroup.coalesced}. Each call throws a {@link ferro.FerroException} if the group fails, as by a communication
 * failure, or has failed.
 *
 * <p>A call throws an {@link IllegalArgumentException} in the following cases, and the group continues. If calls or limits
 * differ, or an object is above the limit, all ranks throw the exception before any content moves. If a list has the wrong
 * length, or an object of a list cannot be encoded, all ranks throw the exception. If a codec cannot encode another object, that
 * rank and the ranks that would get the object throw the exception. If a codec cannot decode bytes, that rank alone throws the
 * exception. An {@link Error} of a codec is thrown unchanged. A rank without memory for objects of other ranks fails the group.
 *
 * <p>A {@code null} or an invalid root throws an exception on this rank only, before the rank communicates. The other
 * ranks keep waiting for this rank.
 *
 * <p>A rank gets only objects that its codec has decoded, and its own object is decoded too. Calls may come from any
 * thread, one at a time.
 *
 * @param <T> type of the objects
 */
public final class GroupObjects<T> {
    /** Maximum size of one object in bytes, 64 MiB, unless {@link #withLimit} sets another limit. */
    public static final int DEFAULT_LIMIT = 64 << 20;

    private final ProcessGroup group;
    private final CoalescedBlocks coalescing;
    private final Codec<T> codec;
    private final int limit;
    private final IntFunction<byte[]> memory;

    /** Makes collectives on objects. The function {@code memory} makes arrays for objects of other ranks. */
    GroupObjects(
            ProcessGroup group, CoalescedBlocks coalescing, Codec<T> codec, int limit, IntFunction<byte[]> memory) {
        this.memory = memory;
        this.group = group;
        this.coalescing = coalescing;
        this.codec = codec;
        this.limit = limit;
    }

    /**
     * Returns the same collectives with another limit.
     *
     * @param bytes maximum size of one object in bytes, the same on all ranks
     * @return collectives with this limit
     * @throws IllegalArgumentException if the limit is not positive
     */
    public GroupObjects<T> withLimit(int bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException("a limit of objects must be at least 1 byte, found " + bytes);
        }
        return new GroupObjects<>(group, coalescing, codec, bytes, memory);
    }

    /**
     * Sends the object of the root to every rank.
     *
     * @param value object of the root; may be null on the other ranks, where it is ignored
     * @param root  rank that has the object
     * @return the object of the root
     * @throws IllegalArgumentException in the cases that the class names, or if {@code root} is not a rank ({@link
     *     InvalidRankException})
     */
    public T broadcast(T value, int root) {
        boolean isRoot = isRoot(ObjectCall.BROADCAST, root);
        EncodedObject own = isRoot ? EncodedObject.of(codec, requireNonNull(value, "value")) : EncodedObject.NONE;
        ObjectHeaders headers = exchange(ObjectCall.BROADCAST, root, own.headerLength());
        int announced = (int) EncodedObject.byteCount(headers.length(root));
        byte[] content = room(announced, isRoot ? size -> own.bytes().clone() : memory, headers);
        group.broadcast(of(content), root);
        own.throwFailure(headers.prefix());
        headers.requireEncoded(root, content);
        return decoded(content, root, headers.prefix());
    }

    /**
     * Sends the objects of all ranks to the root.
     *
     * @param value object of this rank
     * @param root  rank that gets the objects
     * @return on the root the objects by rank; on the other ranks an empty list; immutable
     * @throws IllegalArgumentException in the cases that the class names, or if {@code root} is not a rank ({@link
     *     InvalidRankException})
     */
    public List<T> gather(T value, int root) {
        return gathered(value, ObjectCall.GATHER, root, false);
    }

    private List<T> gathered(T value, ObjectCall kind, int root, boolean toAll) {
        boolean takes = isRoot(kind, root) || toAll;
        EncodedObject own = EncodedObject.of(codec, requireNonNull(value, "value"));
        ObjectHeaders headers = exchange(kind, root, own.headerLength());
        long[] counts = headers.byteCounts();
        int sum = headers.requireOneArray(counts);
        byte[] all = takes ? room(sum, memory, headers) : null;
        if (toAll) {
            group.allGather(of(own.bytes()), of(all), counts);
        } else {
            group.gather(of(own.bytes()), takes ? of(all) : null, root, counts);
        }
        own.throwFailure(headers.prefix());
        return takes ? decoded(all, counts, headers) : List.of();
    }

    /**
     * Sends the objects of all ranks to every rank.
     *
     * @param value object of this rank
     * @return the objects by rank; immutable
     * @throws IllegalArgumentException in the cases that the class names
     */
    public List<T> allGather(T value) {
        return gathered(value, ObjectCall.ALL_GATHER, 0, true);
    }

    /**
     * Sends one object of the root to each rank.
     *
     * @param values objects by rank, on the root; may be null on the other ranks, where the objects are ignored
     * @param root   rank that has the objects
     * @return the object for this rank
     * @throws IllegalArgumentException in the cases that the class names, or if {@code root} is not a rank ({@link
     *     InvalidRankException})
     */
    public T scatter(List<? extends T> values, int root) {
        boolean isRoot = isRoot(ObjectCall.SCATTER, root);
        EncodedObject own = isRoot
                ? EncodedObject.of(codec, requireNonNull(values, "values"), group.worldSize())
                : EncodedObject.NONE;
        ObjectHeaders headers = exchange(ObjectCall.SCATTER, root, own.headerLength());
        requireEncoded(own, headers);
        long[] counts = isRoot ? own.counts() : new long[group.worldSize()];
        group.broadcast(of(counts), root);
        int sum = headers.requireOneArray(counts);
        byte[] content = room((int) counts[group.rank()], memory, headers);
        byte[] all = isRoot ? room(sum, own::joined, headers) : null;
        group.scatter(isRoot ? of(all) : null, of(content), root, counts);
        return decoded(content, root, headers.prefix());
    }

    /**
     * Sends one object of each rank to each rank.
     *
     * @param values objects of this rank, by the rank that gets them
     * @return the objects for this rank, by the rank that sent them; immutable
     * @throws IllegalArgumentException in the cases that the class names
     */
    public List<T> allToAll(List<? extends T> values) {
        coalescing.refuse("a call on objects");
        EncodedObject own = EncodedObject.of(codec, requireNonNull(values, "values"), group.worldSize());
        ObjectHeaders headers = exchange(ObjectCall.ALL_TO_ALL, 0, own.headerLength());
        requireEncoded(own, headers);
        long[] sent = own.counts();
        long[] received = new long[sent.length];
        group.allToAll(of(sent), of(received));
        requireOneArray(sent, received, headers);
        byte[] out = room((int) LongStream.of(received).sum(), memory, headers);
        byte[] in = room((int) LongStream.of(sent).sum(), own::joined, headers);
        group.allToAll(of(in), of(out), sent, received);
        return decoded(out, received, headers);
    }

    /** Refuses the call on all ranks if one rank sends or receives more bytes than fit into one array. */
    private void requireOneArray(long[] sent, long[] received, ObjectHeaders headers) {
        long max = Math.max(LongStream.of(sent).sum(), LongStream.of(received).sum());
        long[] largest = {max};
        if (headers.mayNeedSeveralArrays()) {
            group.allReduce(of(largest), ReduceOp.MAX);
        }
        headers.requireOneArray(largest);
    }

    /**
     * Combines the objects of all ranks on the root, in the order of the ranks: {@code op(op(v0, v1), v2)} for three
     * ranks. The op need not commute. All objects go to the root, and the root alone calls the op.
     *
     * {@snippet file="ferro/examples/snippets/ObjectSnippetsTest.java" region="objectReductions" :
     *
     * GroupObjects<String> texts = group.objects(Codec.utf8());
     * Optional<String> longest = texts.reduce(name, (a, b) -> a.length() < b.length() ? b : a, 0);
     * longest.ifPresent(text -> printed.add("the longest name is " + text)); // on rank 0
     * }
     *
     * @param value object of this rank
     * @param op    combines two objects into one object; an exception of the op is thrown on the root unchanged
     * @param root  rank that gets the result
     * @return on the root the result; on the other ranks empty
     * @throws NullPointerException     if an argument is null, or, on the root, if the op returns null
     * @throws IllegalArgumentException in the cases of {@link #gather}
     */
    public Optional<T> reduce(T value, BinaryOperator<T> op, int root) {
        requireNonNull(op, "op");
        return gathered(value, ObjectCall.REDUCE, root, false).stream().reduce(notNull(op));
    }

    /**
     * Combines the objects of all ranks on every rank, in the order of the ranks, as {@link #reduce} does. Each rank
     * gets all objects and calls the op. So the op must return equal results for equal objects.
     *
     * @param value object of this rank
     * @param op    combines two objects into one object; an exception of the op is thrown unchanged
     * @return the result
     * @throws NullPointerException     if an argument is null, or the op returns null
     * @throws IllegalArgumentException in the cases of {@link #allGather}
     */
    public T allReduce(T value, BinaryOperator<T> op) {
        requireNonNull(op, "op");
        return gathered(value, ObjectCall.ALL_REDUCE, 0, true).stream()
                .reduce(notNull(op))
                .orElseThrow();
    }

    private BinaryOperator<T> notNull(BinaryOperator<T> op) {
        return (one, other) -> requireNonNull(op.apply(one, other), "the op returned null");
    }

    /**
     * Combines one number of each rank, without the codec.
     *
     * @param value number of this rank
     * @param op    reduction; the same on every rank
     * @return the combined number, with the same bits on all ranks
     * @throws IllegalArgumentException if the reduction is user-defined for another element type
     */
    public double allReduce(double value, ReduceOp op) {
        coalescing.refuse("a call on objects");
        double[] one = {value};
        group.allReduce(HostTensor.of(one), requireNonNull(op, "op"));
        return one[0];
    }

    /**
     * Sends an object to one rank, as a message with the bytes of the object. Messages of objects and messages of
     * tensors share the tags, so use different tags for objects and tensors.
     *
     * {@snippet file="ferro/examples/snippets/ObjectSnippetsTest.java" region="objectMessages" :
     *
     * GroupObjects<String> texts = group.objects(Codec.utf8());
     * if (group.rank() > 0) {
     *     texts.send("done on rank " + group.rank(), 0, 1);
     * } else {
     *     for (int count = 1; count < group.worldSize(); count++) {
     *         ReceivedObject<String> next = texts.recv(ProcessGroup.ANY_SOURCE, 1);
     *         printed.add(next.status().source() + ": " + next.value());
     *     }
     * }
     * }
     *
     * @param value object
     * @param to    rank that receives; may be this rank
     * @param tag   0 or more; the receive must have the same tag
     * @throws IllegalArgumentException if this rank cannot encode the object, the object is above the limit, {@code
     *     tag} is negative, or {@code to} is not a rank of the group ({@link InvalidRankException}); in all these cases
     *     nothing is sent
     */
    public void send(T value, int to, int tag) {
        coalescing.refuse("a call on objects");
        EncodedObject own = EncodedObject.of(codec, requireNonNull(value, "value"));
        String call = "send of an object to rank " + to + " tag " + tag + ", rank " + group.rank() + " of "
                + group.worldSize();
        own.throwFailure(call);
        if (own.bytes().length > limit) {
            throw new IllegalArgumentException(call + ": the object has " + own.bytes().length + " bytes, the limit is "
                    + limit + " bytes: send less, or set a larger limit");
        }
        group.send(of(own.bytes()), to, tag);
    }

    /**
     * Receives an object that one rank has sent to this rank.
     *
     * @param from rank that sends, which may be this rank; or {@link ProcessGroup#ANY_SOURCE}
     * @param tag  tag of the send, or {@link ProcessGroup#ANY_TAG}
     * @return object, with its sender and its tag
     * @throws IllegalArgumentException      if the message is above the limit or has other elements than bytes; a
     *     refused message stays for the next receive. Also if this rank cannot decode the object, {@code tag} is
     *     negative, or {@code from} is not a rank of the group ({@link InvalidRankException})
     * @throws UnsupportedOperationException if messages of the back end do not carry their length
     * @throws ferro.FerroException          if no message arrives, or the group fails or has failed
     */
    public ReceivedObject<T> recv(int from, int tag) {
        coalescing.refuse("a call on objects");
        MatchedMessage message = null;
        while (message == null) {
            MessageStatus first = checked(group.probe(from, tag));
            // null if another thread has taken the message; the next message may be of another rank
            message = group.matchNow(first.source(), first.tag()).orElse(null);
        }
        MessageStatus status = checked(message.status());
        byte[] content = memory.apply((int) status.bytes());
        message.recv(of(content));
        return new ReceivedObject<>(decoded(content, status.source(), received(status)), status);
    }

    /**
     * An object that one rank has sent to this rank.
     *
     * @param value  object
     * @param status sender and tag, and the number of bytes of the object
     * @param <T>    type of the object
     */
    public record ReceivedObject<T>(T value, MessageStatus status) {}

    /** Returns the status of a message that can be an object. Throws an exception for any other message. */
    private MessageStatus checked(MessageStatus message) {
        if (message.type() != DataType.INT8) {
            throw new IllegalArgumentException(received(message) + ": the message " + message
                    + " is no object: receive it into a tensor, or use another tag");
        }
        if (message.bytes() > limit) {
            throw new IllegalArgumentException(received(message) + ": the object has " + message.bytes()
                    + " bytes, the limit is " + limit + " bytes: receive it with a larger limit");
        }
        return message;
    }

    private String received(MessageStatus message) {
        return "recv of an object from rank " + message.source() + " tag " + message.tag() + ", rank " + group.rank()
                + " of " + group.worldSize();
    }

    private boolean isRoot(ObjectCall call, int root) {
        coalescing.refuse("a call on objects");
        return InvalidRankException.check(call.label(), "root", root, group.worldSize()) == group.rank();
    }

    /** Throws an exception on all ranks if one rank has a list of the wrong length or cannot encode an object. */
    private void requireEncoded(EncodedObject own, ObjectHeaders headers) {
        long[] counts = headers.textByteCounts();
        int sum = headers.requireOneArray(counts);
        if (sum > 0) {
            byte[] texts = room(sum, memory, headers);
            group.allGather(of(own.failure() == null ? new byte[0] : own.bytes()), of(texts), counts);
            own.throwFailure(headers.prefix());
            headers.requireEncoded(texts, counts);
        }
    }

    private ObjectHeaders exchange(ObjectCall kind, int root, long length) {
        return ObjectHeaders.exchange(group, kind.with(root), limit, length);
    }

    /**
     * Makes an array for the second collective of a call. A rank without memory for the array fails the group. The
     * other ranks are already in the second collective. If this rank continued, its next call would be taken as its
     * part of the second collective.
     */
    private byte[] room(int bytes, IntFunction<byte[]> made, ObjectHeaders headers) {
        try {
            return made.apply(bytes);
        } catch (Error none) {
            group.abort(new IllegalStateException(
                    headers.prefix() + ": there is no memory for " + bytes + " bytes of objects", none));
            throw none;
        }
    }

    private List<T> decoded(byte[] all, long[] counts, ObjectHeaders headers) {
        List<T> objects = new ArrayList<>();
        int from = 0;
        for (int rank = 0; rank < counts.length; rank++) {
            byte[] content = Arrays.copyOfRange(all, from, from + (int) counts[rank]);
            headers.requireEncoded(rank, content);
            objects.add(decoded(content, rank, headers.prefix()));
            from += content.length;
        }
        return Collections.unmodifiableList(objects);
    }

    private T decoded(byte[] content, int from, String call) {
        try {
            return requireNonNull(codec.decode(content), "the codec returned null");
        } catch (IOException | RuntimeException failure) {
            throw new IllegalArgumentException(
                    call + ": the codec cannot decode the " + content.length + " bytes of rank " + from + ": "
                            + failure,
                    failure);
        }
    }
}
