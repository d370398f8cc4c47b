package ferro.collectives.engine;

import ferro.DataType;
import ferro.HostTensor;
import ferro.MessageKind;
import ferro.control.group.MessageCounts;
import ferro.spi.CallHeader;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * The channel for messages with one peer over a link. Each message has an envelope of four longs: tag, bytes, kind and
 * type. The elements follow the envelope if the kind has elements. A receive for the next envelope is always posted,
 * unless this rank keeps too many unmatched bytes of the peer.
 *
 * <p>The elements of a message of up to 64 KiB follow the envelope at once (eager). For a larger message, or if the
 * send waits for its receive, the sender announces the message. The receiver sends a go-ahead once a receive matches
 * the message, and then the sender sends the elements (rendezvous). Sender and receiver count the announcements.
 * Go-aheads and elements have the number of their announcement, so that messages of one tag can be received in any
 * order. If the elements do not come soon, {@link PointToPointQueue} repeats the go-ahead as a control message, because a
 * peer that keeps too many unmatched bytes of this rank reads no more from the link.
 *
 * <p>Guarded by the progress lock.
 */
final class PeerMessageChannel extends MatchingQueues {
    /** Size of the largest message in bytes that is sent without waiting for a go-ahead. */
    static final long EAGER_BYTES = 64L << 10;

    private static final long EAGER = 0;
    private static final long ANNOUNCED = 1;
    private static final long GO_AHEAD = 2;
    private static final long CONTENT = 3;
    private static final int LONGS = 4;
    private static final DataType[] TYPES = DataType.values();

    private final PeerLinks.CountedLink counted;
    private final CallHeader header;
    private final MessageCounts.PeerCounts counts;
    private final HostTensor envelope = HostTensor.of(new long[LONGS]);
    private final Deque<PostedReceive> inbound = new ArrayDeque<>();
    private final Deque<PendingSend> unposted = new ArrayDeque<>();
    private final Deque<PendingSend> posted = new ArrayDeque<>();
    private final Deque<HostTensor> spareEnvelopes = new ArrayDeque<>();
    private final List<Transfer> announced = new ArrayList<>();
    private final List<Transfer> going = new ArrayList<>();
    private long sendsDone;
    private long announcementsSent;
    private long announcementsRead;
    private boolean listening;

    /**
     * A posted receive. Elements go to {@code receive} or to the unexpected {@code message}. For an envelope, these two
     * are null.
     */
    private record PostedReceive(long target, Transfer receive, UnexpectedMessage message) {}

    /** Data to send. If {@code send} is null, a reused envelope, else the elements of the send, which then ends. */
    private record PendingSend(HostTensor data, Transfer send) {}

    PeerMessageChannel(int peer, PeerLinks.CountedLink counted, PeerMessageChannels channels) {
        super(peer, channels);
        this.counted = counted;
        this.header = channels.header;
        this.counts = owner.counts(peer);
        this.sendsDone = counted.sendsPosted;
        listen();
    }

    @Override
    void send(Transfer send) {
        send.number = counts.nextSent();
        if (send.isEager()) {
            send.matched = true;
            addEnvelope(send, EAGER, send.bytes());
            unposted.add(new PendingSend(send.tensor, send));
        } else {
            send.announcement = ++announcementsSent;
            announced.add(send);
            addEnvelope(send, ANNOUNCED, send.bytes());
        }
    }

    @Override
    void receive(UnexpectedMessage message, Transfer receive) {
        if (message.content == null) {
            goAhead(receive, message.announcement);
        } else if (message.complete) {
            deliver(message, receive);
        } else {
            message.taker = receive;
        }
    }

    /** Ends transfers that have moved, and posts the next transfers. Returns whether anything was ended or posted. */
    boolean advance() {
        boolean moved = false;
        while (!posted.isEmpty() && counted.link.sent() > sendsDone) {
            sendsDone++;
            collect(posted.remove());
            moved = true;
        }
        while (!inbound.isEmpty() && counted.link.received() >= inbound.peek().target) {
            collect(inbound.remove());
            moved = true;
        }
        if (!listening && !isFull()) {
            listen();
        }
        for (PendingSend next = unposted.poll(); next != null; next = unposted.poll()) {
            if (next.send != null) {
                next.send.moves(counted.link);
            }
            counted.link.send(header, next.data, 0, next.data.elementCount());
            counted.sendsPosted++;
            posted.add(next);
            moved = true;
        }
        return moved;
    }

    private void collect(PendingSend sent) {
        if (sent.send == null) {
            spareEnvelopes.push(sent.data);
        } else {
            owner.finish(sent.send);
        }
    }

    private void collect(PostedReceive arrived) {
        if (arrived.receive != null) {
            counts.countArrived();
            counts.countTaken();
            owner.finish(arrived.receive);
        } else if (arrived.message != null) {
            counts.countArrived();
            arrived.message.complete = true;
            if (arrived.message.taker != null) {
                deliver(arrived.message, arrived.message.taker);
            }
        } else {
            listening = false;
            long[] longs = (long[]) envelope.memory();
            open(longs[0], longs[1], longs[2], longs[3]);
        }
    }

    private void deliver(UnexpectedMessage message, Transfer receive) {
        if (receive.work.isDone()) {
            // the group has failed since the match, so the tensor belongs to the caller again
            return;
        }
        message.copyInto(receive.tensor);
        counts.countTaken();
        owner.finish(receive);
    }

    private void open(long tag, long bytes, long kind, long type) {
        if (type < 0 || type >= TYPES.length) {
            owner.nonsense(peer, "a point-to-point envelope of element type " + type);
        } else if (tag != (int) tag
                || bytes < 0
                || kind != GO_AHEAD && kind != CONTENT && bytes % TYPES[(int) type].byteSize() != 0) {
            owner.nonsense(
                    peer,
                    "a point-to-point envelope of tag " + tag + " and " + bytes + " bytes of "
                            + TYPES[(int) type].label());
        } else if (kind == EAGER && bytes <= EAGER_BYTES) {
            openEager(tag, TYPES[(int) type], bytes);
        } else if (kind == ANNOUNCED) {
            openAnnounced(tag, TYPES[(int) type], bytes);
        } else if (kind == GO_AHEAD) {
            startAnnounced(bytes);
        } else if (kind == CONTENT) {
            receiveContent(bytes);
        } else {
            owner.nonsense(
                    peer, "a point-to-point envelope of kind " + kind + ", tag " + tag + " and " + bytes + " bytes");
        }
    }

    private void openEager(long tag, DataType type, long bytes) {
        Transfer receive = takeReceive(tag);
        if (receive == null || receive.kind == MessageKind.MATCH) {
            UnexpectedMessage message = new UnexpectedMessage(tag, type, bytes, false);
            counted.link.receive(header, HostTensor.of(DataType.INT8, message.content), 0, bytes);
            inbound.add(new PostedReceive(++counted.receivesPosted, null, message));
            keep(message, receive);
        } else if (matches(receive, tag, type, bytes)) {
            postReceive(receive);
        }
    }

    private void openAnnounced(long tag, DataType type, long bytes) {
        long announcement = ++announcementsRead;
        Transfer receive = takeReceive(tag);
        if (receive == null || receive.kind == MessageKind.MATCH) {
            UnexpectedMessage message = new UnexpectedMessage(tag, type, bytes, true);
            message.announcement = announcement;
            keep(message, receive);
        } else if (matches(receive, tag, type, bytes)) {
            goAhead(receive, announcement);
        }
    }

    /**
     * Sends the elements of an announced message, unless an earlier copy of the go-ahead has already started the
     * sending.
     */
    void startAnnounced(long announcement) {
        Transfer send = take(announced, announcement);
        if (send != null) {
            send.matched = true;
            addEnvelope(send, CONTENT, announcement);
            unposted.add(new PendingSend(send.tensor, send));
        } else if (announcement < 1 || announcement > announcementsSent) {
            owner.nonsense(peer, "a go-ahead for message " + announcement + ", which is not announced");
        }
    }

    private void receiveContent(long announcement) {
        Transfer receive = take(going, announcement);
        if (receive == null) {
            owner.nonsense(peer, "the elements of message " + announcement + ", which had no go-ahead");
        } else {
            postReceive(receive);
        }
    }

    private static Transfer take(List<Transfer> transfers, long announcement) {
        for (int i = 0; i < transfers.size(); i++) {
            if (transfers.get(i).announcement == announcement) {
                return transfers.remove(i);
            }
        }
        return null;
    }

    private void goAhead(Transfer receive, long announcement) {
        receive.announcement = announcement;
        going.add(receive);
        addEnvelope(receive, GO_AHEAD, announcement);
    }

    private void listen() {
        listening = true;
        counted.link.receive(header, envelope, 0, LONGS);
        inbound.add(new PostedReceive(++counted.receivesPosted, null, null));
    }

    private void postReceive(Transfer receive) {
        receive.moves(counted.link);
        counted.link.receive(header, receive.tensor, 0, receive.elements());
        inbound.add(new PostedReceive(++counted.receivesPosted, receive, null));
    }

    /** Adds an envelope. The value is the size in bytes, or the announcement's number for a go-ahead or content. */
    private void addEnvelope(Transfer about, long kind, long value) {
        HostTensor spare = spareEnvelopes.isEmpty() ? HostTensor.of(new long[LONGS]) : spareEnvelopes.pop();
        long[] longs = (long[]) spare.memory();
        longs[0] = about.tag;
        longs[1] = value;
        longs[2] = kind;
        longs[3] = about.tensor.dataType().ordinal();
        unposted.add(new PendingSend(spare, null));
    }
}
