package ferro.collectives.engine.p2p;

import ferro.DataType;
import ferro.HostTensor;
import ferro.MessageStatus;
import ferro.collectives.engine.progress.PendingWork;
import ferro.spi.Link;
import java.util.Set;
import java.util.function.Supplier;

/** One point-to-point operation. Except for {@code work}, it belongs to the thread that makes progress. */
public final class Transfer implements Supplier<MessageStatus> {
    public final PendingWork work;
    /** Null after the end. */
    HostTensor tensor;

    final int peer;
    final int tag;
    final Kind kind;
    final boolean isSend;
    /** Whether it is matched with the other side, so that it can no longer be given up without harm. */
    boolean matched;
    /** Whether it has had its event LATE, or has none because its timeout is short. */
    boolean isWarned;
    /** For a send: its number among the messages to that peer, counted from 1. */
    long number;
    /** Element type of the sender; set when a receive is matched. */
    private DataType type;
    /** Size of the message; of a receive only after it is matched. */
    private long bytes;

    private Link link;
    private long bytesBefore;

    /** What the operation does. */
    public enum Kind {
        SEND("send"),
        RECEIVE("recv"),
        /** A receive that takes shorter messages too. */
        RECEIVE_UP_TO("recvUpTo");

        private final String label;

        Kind(String label) {
            this.label = label;
        }

        /** Returns the name of the call. */
        public String label() {
            return label;
        }

        /** Returns whether it sends. */
        public boolean isSend() {
            return this == SEND;
        }
    }

    Transfer(PendingWork work, HostTensor tensor, int peer, int tag, Kind kind) {
        this.work = work;
        this.tensor = tensor;
        this.peer = peer;
        this.tag = tag;
        this.kind = kind;
        this.isSend = kind.isSend();
        this.bytes = tensor.byteCount();
    }

    /** Notes the message that a receive has got. */
    void match(DataType sent, long messageBytes) {
        matched = true;
        type = sent;
        bytes = messageBytes;
    }

    /**
     * Returns whether a message fits this receive: the same type and length, or a shorter message if the receive takes
     * shorter ones. Where one side has bytes, whole elements of the receive fit.
     */
    boolean fits(DataType sent, long messageBytes) {
        DataType own = tensor.dataType();
        boolean isLengthRight = kind == Kind.RECEIVE_UP_TO
                ? messageBytes <= tensor.byteCount() && messageBytes % own.byteSize() == 0
                : messageBytes == tensor.byteCount();
        return isLengthRight && (own == sent || isBytes(sent) || isBytes(own));
    }

    private static boolean isBytes(DataType type) {
        return type == DataType.INT8 || type == DataType.UINT8;
    }

    /** Returns the number of elements of the tensor that the message fills, or that are sent. */
    long elements() {
        return bytes / tensor.dataType().byteSize();
    }

    /** Returns the size of the message. */
    long bytes() {
        return bytes;
    }

    /** Notes that its elements are next on a link. */
    void moves(Link on) {
        link = on;
        bytesBefore = on.bytesMoved();
    }

    /** Notes that it has ended: a handle that is kept does not keep the tensor. */
    void ended() {
        tensor = null;
    }

    /** Returns the status of a receive that has ended; any thread that has seen the end. */
    @Override
    public MessageStatus get() {
        return MessageStatus.of(peer, tag, type, bytes);
    }

    /** Describes what is moved, for example f32[1000]. */
    String shape() {
        return MatchingQueue.shape(tensor.dataType(), tensor.byteCount());
    }

    /** Returns how far it is, as an upper bound: other transfers of the same peer may move beside it. */
    PendingWork.Position position() {
        long moved = link == null ? 0 : Math.min(bytes, link.bytesMoved() - bytesBefore);
        return new PendingWork.Position(-1, moved, Set.of(peer));
    }

    /** Returns whether it may be given up alone. Only an unmatched receive may; otherwise the whole group fails. */
    boolean canBeGivenUp() {
        return !isSend && !matched;
    }
}
