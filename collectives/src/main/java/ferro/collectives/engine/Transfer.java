package ferro.collectives.engine;

import ferro.CallOptions;
import ferro.CollectiveBackend;
import ferro.DataType;
import ferro.HostTensor;
import ferro.Message;
import ferro.MessageKind;
import ferro.MessageStatus;
import ferro.Work;
import ferro.control.failure.Diagnosis;
import ferro.control.failure.Machines;
import ferro.control.group.GroupControl;
import ferro.control.group.RankStatus;
import ferro.control.group.TimeoutProbe;
import ferro.control.wire.RankSetFormat;
import ferro.spi.Link;
import java.util.BitSet;
import java.util.Set;
import java.util.function.IntFunction;

/**
 * One point-to-point operation. The progress lock guards all fields except {@code work}, unless the comment of a member
 * names another rule.
 */
final class Transfer {
    /** Time that a receive waits for the elements before the receive repeats its go-ahead. */
    private static final long REPEAT_NANOS = 20_000_000L;

    final PendingWork work;
    /** The memory to send or receive; null after the end, and for a transfer that moves no elements. */
    HostTensor tensor;
    /** The message that a matched probe has taken, and that the receive of this message delivers. */
    MatchingQueues.UnexpectedMessage held;

    /** The other rank; ANY_SOURCE until a receive from any rank is matched. */
    int peer;
    /** The tag; ANY_TAG until a receive of any tag is matched. */
    int tag;

    final MessageKind kind;
    final boolean isSend;
    /** Whether the transfer is matched with the peer, so that ending the transfer early would harm the peer. */
    boolean matched;
    /** Whether the event LATE was sent, or is not needed because the timeout is short. */
    boolean isWarned;
    /**
     * For a send, its number among the messages to the peer, counted from 1. For a receive, its number among all
     * receives of this rank. Of the receives that accept a message, the receive with the lowest number gets the
     * message.
     */
    long number;
    /** Number of the announcement in its lane, from 1; 0 for a receive that has sent no go-ahead. */
    long announcement;
    /** Time at which the go-ahead of this receive is repeated; 0 until the time is set. */
    private long repeatNanos;

    private boolean isRepeated;
    /** Whether the transfer has begun. Submitting a transfer that has begun cancels the transfer. */
    boolean isStarted;
    /** Whether a cancellation has been accepted or refused. The thread that cancels also reads this field. */
    volatile boolean isDecided;

    private final PointToPointQueue owner;
    /** Element type of the sender; null until a receive is matched. */
    private DataType type;
    /** Size of the message in bytes; for a receive, valid only after the match. */
    private long bytes;

    private Link link;
    private long bytesBefore;
    /** Bytes that the link had moved at the last observation. */
    private long movedBytes;
    /** Time of the last observation at which more bytes had moved than before; 0 if no bytes have moved. */
    private long movedNanos;

    Transfer(PointToPointQueue owner, PendingWork work, Message message) {
        this.owner = owner;
        this.work = work;
        this.tensor = (HostTensor) message.tensor();
        this.kind = message.kind();
        this.isSend = kind.isSend();
        this.peer = message.peer();
        this.tag = message.tag();
        this.bytes = tensor == null ? 0 : tensor.byteCount();
    }

    /**
     * Returns the match that a handle belongs to. The match must have ended with a message of the group of
     * {@code owner}.
     */
    static Transfer ofMatch(Work matched, PointToPointQueue owner) {
        if (matched instanceof PendingWork work && work.status().isPresent()) {
            Transfer match = work.message();
            if (match.owner == owner && match.kind == MessageKind.MATCH) {
                return match;
            }
        }
        throw new IllegalArgumentException(
                "recv of " + matched + ": need the handle of a match of this group that has " + "ended with a message");
    }

    /** Records the transfer and connects a receive with its handle, before the transfer is queued. */
    void recorded() {
        if (kind.isMoving()) {
            work.recordedMessage(work.description(), bytes, awaitedPeer());
        } else {
            work.recordedLate();
        }
        if (!isSend) {
            work.receives(this);
        }
    }

    /**
     * Appends the description of a message, such as {@code send to rank 3 tag 7} or {@code recv from any rank any tag}.
     * Makes no intermediate text.
     */
    static StringBuilder describe(Message message, Transfer taken, CallOptions options, StringBuilder text) {
        int peer = taken == null ? message.peer() : taken.peer;
        int tag = taken == null ? message.tag() : taken.tag;
        text.append(options.named(message.kind().label())).append(message.kind().isSend() ? " to " : " from ");
        if (peer == CollectiveBackend.ANY_SOURCE) {
            text.append("any rank");
        } else {
            text.append("rank ").append(peer);
        }
        return tag == CollectiveBackend.ANY_TAG
                ? text.append(" any tag")
                : text.append(" tag ").append(tag);
    }

    /** Describes how many other transfers a text does not name. */
    static String more(int others) {
        return others == 0 ? "" : " and " + others + " more";
    }

    /** Returns whether this is a send that does not wait for its receive. */
    boolean isEager() {
        return kind == MessageKind.SEND && tensor.byteCount() <= PeerMessageChannel.EAGER_BYTES;
    }

    /** Returns whether this is a receive from any rank that no message has matched yet. */
    boolean isFromAny() {
        return peer == CollectiveBackend.ANY_SOURCE;
    }

    /** Turns this transfer into the receive of a message that a match has taken. */
    void receive(Transfer taken) {
        if (!fits(taken.type, taken.bytes)) {
            throw new IllegalArgumentException("the message " + taken.status() + " does not fit " + shape()
                    + ": the tensor must have the same type, unless one side has plain bytes (i8, u8), and must not be "
                    + "shorter than the message");
        }
        synchronized (taken) {
            if (taken.held == null) {
                throw new IllegalStateException("the message " + taken.status() + " was received before");
            }
            held = taken.held;
            taken.held = null;
        }
        match(taken.peer, taken.tag, taken.type, taken.bytes);
    }

    /** Returns whether this receive accepts a tag. ANY_TAG accepts no tags below 0, which ferro itself uses. */
    boolean takes(long sentTag) {
        return tag == sentTag || tag == CollectiveBackend.ANY_TAG && sentTag >= 0;
    }

    void match(int source, long sentTag, DataType sent, long messageBytes) {
        matched = true;
        peer = source;
        tag = (int) sentTag;
        type = sent;
        bytes = messageBytes;
    }

    /**
     * Returns whether a message fits this receive. A message of the same type and length fits. Some receives also take
     * shorter messages. If the send or the receive has bytes, the types may differ, but the message must have whole
     * elements of the receive.
     */
    boolean fits(DataType sent, long messageBytes) {
        DataType own = tensor.dataType();
        boolean isLengthRight = kind == MessageKind.RECEIVE_UP_TO || kind == MessageKind.RECEIVE_MATCHED
                ? messageBytes <= tensor.byteCount() && messageBytes % own.byteSize() == 0
                : messageBytes == tensor.byteCount();
        return isLengthRight && (own == sent || isBytes(sent) || isBytes(own));
    }

    /** Describes a message that does not fit this receive. */
    String mismatch(IntFunction<String> named, int rank, DataType sent, long messageBytes) {
        String needed = kind == MessageKind.RECEIVE_UP_TO
                ? "types must be equal unless one side has plain bytes (i8, u8, a ByteBuffer), and the message must not be "
                        + "longer than the receive"
                : "type and count must be equal, unless one side has plain bytes (i8, u8, a ByteBuffer) of the same total "
                        + "size";
        return named.apply(peer) + " sent " + MatchingQueues.shape(sent, messageBytes) + ", " + messageBytes
                + " bytes, to " + named.apply(rank) + " with tag " + tag + ", rank " + rank + " receives " + shape()
                + ", " + tensor.byteCount()
                + " bytes: " + needed;
    }

    private static boolean isBytes(DataType type) {
        return type == DataType.INT8 || type == DataType.UINT8;
    }

    /** Returns the number of elements of the tensor that the message fills, or that are sent. */
    long elements() {
        return bytes / tensor.dataType().byteSize();
    }

    long bytes() {
        return bytes;
    }

    /** Records that a link moves the elements of this transfer next. */
    void moves(Link on) {
        link = on;
        bytesBefore = on.bytesMoved();
        movedBytes = bytesBefore;
    }

    /** Drops the tensor and a received message, so that a handle in the program does not keep the memory in use. */
    void ended() {
        tensor = null;
        if (kind == MessageKind.RECEIVE_MATCHED) {
            held = null;
        }
    }

    /** Returns the status of a receive that has ended. Any thread that has seen the end may call this method. */
    MessageStatus status() {
        return MessageStatus.of(peer, tag, type, bytes);
    }

    /** Ends the receive if no message has matched the receive. Returns after the decision. */
    void cancel() {
        owner.cancel(this);
    }

    /** Returns the rank that this transfer waits for, or -1 if any rank may send. */
    int awaitedPeer() {
        return Math.max(peer, -1);
    }

    /** Records whether elements move. Repeats the go-ahead of a receive once if no elements have come in time. */
    void observe(GroupControl control, long nowNanos) {
        if (link != null && link.bytesMoved() != movedBytes) {
            movedBytes = link.bytesMoved();
            movedNanos = nowNanos;
        }
        if (!isGoing()) {
            return;
        }
        if (repeatNanos == 0) {
            repeatNanos = nowNanos + REPEAT_NANOS;
        } else if (nowNanos - repeatNanos >= 0) {
            isRepeated = true;
            control.repeatGoAhead(peer, announcement);
        }
    }

    /** Returns whether the go-ahead of this receive was sent but not repeated, and no elements have come. */
    private boolean isGoing() {
        return !isSend && announcement > 0 && link == null && !isRepeated;
    }

    /** Returns the time until the deadline, the event LATE or the go-ahead may have to be checked. */
    long untilNext(long nowNanos) {
        long next = TimeoutProbe.untilCheck(work.begunNanos(), work.deadlineNanos(), isWarned, nowNanos);
        if (!isGoing()) {
            return next;
        }
        return Math.min(next, repeatNanos == 0 ? REPEAT_NANOS : Math.max(0, repeatNanos - nowNanos));
    }

    String shape() {
        return MatchingQueues.shape(tensor.dataType(), tensor.byteCount());
    }

    /**
     * Returns the progress. The bytes are an upper bound, because other transfers with the same peer may move at the
     * same time.
     */
    PendingWork.WorkProgress position() {
        long moved = link == null ? 0 : Math.min(bytes, link.bytesMoved() - bytesBefore);
        return new PendingWork.WorkProgress(-1, moved, isFromAny() ? Set.of() : Set.of(peer));
    }

    /** Returns whether the peer has matched this transfer, so that the transfer waits only for its link. */
    boolean isInFlight() {
        return matched && !isEager();
    }

    /** Returns the status of a rank that is in this operation and waits for the given ranks. */
    RankStatus status(String more, int from, BitSet peers) {
        boolean isAny = from == CollectiveBackend.ANY_SOURCE;
        return new RankStatus(0, work.description() + more, "", RankSetFormat.numbers(peers), isAny, work.begunNanos());
    }

    Diagnosis.Blame verdict(TimeoutProbe asked, Machines machines, BitSet peers, long nowNanos) {
        String ownCall = isInFlight() ? "" : status("", peer, peers).sentence(machines);
        if (isFromAny()) {
            return asked.waitingForAny(peers, ownCall);
        }
        long timeoutNanos = work.deadlineNanos() - work.begunNanos();
        // the link counts all messages of both directions, so its count says nothing about a message that waits for its
        // receive
        long within = isInFlight() ? TimeoutProbe.movedWithin(timeoutNanos, movedNanos, nowNanos) : 0;
        return asked.waiting(work.begunNanos(), peers, ownCall, within);
    }

    /**
     * Returns whether this transfer may end without a failure of the group. Only an unmatched receive may end without a
     * failure.
     */
    boolean canBeGivenUp() {
        return !isSend && !matched;
    }
}
