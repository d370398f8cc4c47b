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
import ferro.control.wire.RankLists;
import ferro.spi.Link;
import java.util.BitSet;
import java.util.Set;
import java.util.function.IntFunction;

/** One point-to-point operation. Except for {@code work}, it belongs to the thread that makes progress. */
final class Transfer {
    /** How long a receive waits for the elements before it repeats its go-ahead. */
    private static final long REPEAT_NANOS = 20_000_000L;

    final PendingWork work;
    /** Null after the end, and of a transfer that moves no elements. */
    HostTensor tensor;
    /** The message of a match, and of the receive of its message. */
    MessageLane.UnexpectedMessage held;

    /** The other rank; ANY_SOURCE until a receive from any rank is matched. */
    int peer;
    /** The tag; ANY_TAG until a receive of any tag is matched. */
    int tag;

    final MessageKind kind;
    final boolean isSend;
    /** Whether it is matched with the other side, so that it can no longer be given up without harm. */
    boolean matched;
    /** Whether it has had its event LATE, or has none because its timeout is short. */
    boolean isWarned;
    /**
     * Of a send, the number among the messages to that peer, counted from 1. Of a receive, the number among all
     * receives of this rank: of the receives that take a message, the one with the lowest number gets it.
     */
    long number;
    /**
     * The number of the announcement of the message on its lane, counted from 1. Of a receive, 0 until it has sent a
     * go-ahead.
     */
    long announcement;
    /** When the go-ahead of this receive is repeated; 0 before it is known. */
    private long repeatNanos;

    private boolean isRepeated;
    /** Whether it has begun; submitted once more after that, it is cancelled. */
    boolean isStarted;
    /** Whether it is decided if it is cancelled. */
    volatile boolean isDecided;

    private final PointToPoint owner;
    /** Element type of the sender; set when a receive is matched. */
    private DataType type;
    /** Size of the message; of a receive only after it is matched. */
    private long bytes;

    private Link link;
    private long bytesBefore;
    /** Bytes that the link had moved when it was last observed. */
    private long movedBytes;
    /** When it was last observed that more bytes had moved than before; 0 if they never had. */
    private long movedNanos;

    Transfer(PointToPoint owner, PendingWork work, Message message) {
        this.owner = owner;
        this.work = work;
        this.tensor = (HostTensor) message.tensor();
        this.kind = message.kind();
        this.isSend = kind.isSend();
        this.peer = message.peer();
        this.tag = message.tag();
        this.bytes = tensor == null ? 0 : tensor.byteCount();
    }

    /** Returns the match of a handle, which must have ended with a message of the owner's group. */
    static Transfer ofMatch(Work matched, PointToPoint owner) {
        if (matched instanceof PendingWork work && work.status().isPresent()) {
            Transfer match = work.message();
            if (match.owner == owner && match.kind == MessageKind.MATCH) {
                return match;
            }
        }
        throw new IllegalArgumentException(
                "recv of " + matched + ": need the handle of a match of this group that has " + "ended with a message");
    }

    /** Records it in the flight recorder, and connects a receive with its handle, before it is queued. */
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

    /** Appends what a message is: send to rank 3 tag 7, or recv from any rank any tag. Makes no text on the way. */
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

    /** Describes the transfers beside the one that a text names. */
    static String more(int others) {
        return others == 0 ? "" : " and " + others + " more";
    }

    /** Returns whether it is a send that does not wait for its receive. */
    boolean isEager() {
        return kind == MessageKind.SEND && tensor.byteCount() <= PeerLane.EAGER_BYTES;
    }

    /** Returns whether it is a receive that no rank has sent to yet, and that any rank may send to. */
    boolean isFromAny() {
        return peer == CollectiveBackend.ANY_SOURCE;
    }

    /** Makes this the receive of a message that another transfer has taken. */
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

    /** Returns whether this receive takes messages of a tag. ANY_TAG takes no tags below 0, which are ferro's. */
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
     * Returns whether a message fits this receive: the same type and length, or a shorter message if the receive takes
     * shorter ones. Where one side has bytes, whole elements of the receive fit.
     */
    boolean fits(DataType sent, long messageBytes) {
        DataType own = tensor.dataType();
        boolean isLengthRight = kind == MessageKind.RECEIVE_UP_TO || kind == MessageKind.RECEIVE_MATCHED
                ? messageBytes <= tensor.byteCount() && messageBytes % own.byteSize() == 0
                : messageBytes == tensor.byteCount();
        return isLengthRight && (own == sent || isBytes(sent) || isBytes(own));
    }

    /** Describes a message that does not fit this receive of a rank. */
    String mismatch(IntFunction<String> named, int rank, DataType sent, long messageBytes) {
        String needed = kind == MessageKind.RECEIVE_UP_TO
                ? "types must be equal unless one side has plain bytes (i8, u8, a ByteBuffer), and the message must not be "
                        + "longer than the receive"
                : "type and count must be equal, unless one side has plain bytes (i8, u8, a ByteBuffer) of the same total "
                        + "size";
        return named.apply(peer) + " sent " + MessageLane.shape(sent, messageBytes) + ", " + messageBytes
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

    /** Notes that its elements are next on a link. */
    void moves(Link on) {
        link = on;
        bytesBefore = on.bytesMoved();
        movedBytes = bytesBefore;
    }

    /** Notes that it has ended: a handle that is kept keeps neither the tensor nor a message that was received. */
    void ended() {
        tensor = null;
        if (kind == MessageKind.RECEIVE_MATCHED) {
            held = null;
        }
    }

    /** Returns the status of a receive that has ended; any thread that has seen the end. */
    MessageStatus status() {
        return MessageStatus.of(peer, tag, type, bytes);
    }

    /** Ends the receive if no message has matched it. Returns when that is decided. */
    void cancel() {
        owner.cancel(this);
    }

    /** Returns the rank that it waits for, or -1 if any rank may send. */
    int awaitedPeer() {
        return Math.max(peer, -1);
    }

    /** Notes whether its elements move, and repeats the go-ahead of a receive once if none have come in time. */
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

    /** Returns whether it has sent a go-ahead that is not repeated, and no elements have come. */
    private boolean isGoing() {
        return !isSend && announcement > 0 && link == null && !isRepeated;
    }

    /** Returns the time until a check of its deadline, or of its event LATE, may have something to do. */
    long untilNext(long nowNanos) {
        long next = TimeoutProbe.untilCheck(work.begunNanos(), work.deadlineNanos(), isWarned, nowNanos);
        if (!isGoing()) {
            return next;
        }
        return Math.min(next, repeatNanos == 0 ? REPEAT_NANOS : Math.max(0, repeatNanos - nowNanos));
    }

    String shape() {
        return MessageLane.shape(tensor.dataType(), tensor.byteCount());
    }

    /** Returns how far it is, as an upper bound: other transfers of the same peer may move beside it. */
    PendingWork.Position position() {
        long moved = link == null ? 0 : Math.min(bytes, link.bytesMoved() - bytesBefore);
        return new PendingWork.Position(-1, moved, isFromAny() ? Set.of() : Set.of(peer));
    }

    /** Returns whether the other side has matched it, so that it waits only for its link. */
    boolean isInFlight() {
        return matched && !isEager();
    }

    /** Returns the state of a rank that is in this operation, which waits for the given ranks. */
    RankStatus status(String more, int from, BitSet peers) {
        boolean isAny = from == CollectiveBackend.ANY_SOURCE;
        return new RankStatus(0, work.description() + more, "", RankLists.numbers(peers), isAny, work.begunNanos());
    }

    Diagnosis.Blame verdict(TimeoutProbe asked, Machines machines, BitSet peers, long nowNanos) {
        String ownCall = isInFlight() ? "" : status("", peer, peers).sentence(machines);
        if (isFromAny()) {
            return asked.waitingForAny(peers, ownCall);
        }
        long timeoutNanos = work.deadlineNanos() - work.begunNanos();
        // the link counts all messages of both directions: they say nothing of one that waits for its receive
        long within = isInFlight() ? TimeoutProbe.movedWithin(timeoutNanos, movedNanos, nowNanos) : 0;
        return asked.waiting(work.begunNanos(), peers, ownCall, within);
    }

    /** Returns whether it may be given up alone. Only an unmatched receive may; otherwise the whole group fails. */
    boolean canBeGivenUp() {
        return !isSend && !matched;
    }
}
