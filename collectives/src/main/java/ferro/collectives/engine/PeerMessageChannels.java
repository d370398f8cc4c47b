package ferro.collectives.engine;

import ferro.HostTensor;
import ferro.MessageKind;
import ferro.collectives.shared.IntraNodeTransport;
import ferro.control.failure.Diagnosis;
import ferro.control.failure.FailureHints;
import ferro.spi.CallHeader;
import ferro.spi.Settings;
import ferro.spi.Transport;
import ferro.spi.Transport.Lane;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.IntFunction;

/**
 * The point-to-point channels of a group by peer, and the receives from any rank, which wait on all channels. A channel is
 * opened on first use. Guarded by the progress lock.
 *
 * <p>A receive from any rank opens no connection. A receive from any rank takes a message that has come, or waits for a
 * message on a channel that a peer has opened. If messages of several ranks wait, the receive takes a message of the rank
 * whose messages were taken least recently by receives from any rank. So a waiting rank is passed over at most once for
 * each other rank.
 */
final class PeerMessageChannels {
    private final Transport transport;
    private final PeerLinks links;
    /** Transport between the ranks of this host; null if this group cannot use shared memory. */
    private final IntraNodeTransport intraNode;

    final CallHeader header;
    final PointToPointQueue owner;
    /** Unmatched bytes of a peer at which this rank stops reading from the peer; at least 1, to keep one message. */
    final long keptLimit;
    /** Unmatched receives from any rank, in posting order. */
    final List<Transfer> fromAny = new ArrayList<>();
    /** Probes that no message has matched yet. */
    final List<Transfer> probes = new ArrayList<>();
    /**
     * For each rank, the number of the last receive from any rank that took a waiting message of that rank. Null before
     * the first receive from any rank. The receive of a message that a probe from any rank has described counts as a
     * receive from any rank.
     */
    long[] lastTaken;
    /** Channels by peer; empty until the first channel is opened. */
    private PeerMessageChannel[] byPeer = new PeerMessageChannel[0];

    private final List<PeerMessageChannel> opened = new ArrayList<>();
    private final SelfMessageChannel own;
    private final ConcurrentLinkedQueue<RepeatedGoAhead> repeated = new ConcurrentLinkedQueue<>();

    private long received;

    private record RepeatedGoAhead(int peer, long announcement) {}

    PeerMessageChannels(Transport transport, CallHeader header, PointToPointQueue owner, long keptLimit) {
        this.transport = transport;
        this.links = new PeerLinks(transport, Lane.POINT_TO_POINT);
        this.intraNode = transport instanceof IntraNodeTransport shares ? shares : null;
        this.header = header;
        this.owner = owner;
        this.keptLimit = Math.max(1, keptLimit);
        this.own = new SelfMessageChannel(transport.rank(), this);
    }

    /** Switches to better links. The caller calls this method while no message is pending on any rank. */
    void reopen() {
        BitSet changed = links.reopen();
        for (int peer = changed.nextSetBit(0); peer >= 0; peer = changed.nextSetBit(peer + 1)) {
            opened.remove(byPeer[peer]);
            byPeer[peer] = null;
        }
    }

    /** Returns the channels that are open, in the order in which they were opened. */
    List<PeerMessageChannel> opened() {
        return opened;
    }

    /**
     * Opens channels that no call of this rank has opened. Returns whether a channel was opened. While any probe, or a
     * receive from any rank, is pending, opens all channels that a peer has opened. If neither is pending, and if
     * {@code listens}, opens the channels in shared memory on which messages have come.
     */
    boolean openUnexpected(boolean listens) {
        boolean isFromAny = !fromAny.isEmpty() || !probes.isEmpty();
        return isFromAny ? openUsed() : listens && intraNode != null && openShared();
    }

    private boolean openUsed() {
        boolean any = false;
        for (int peer = 0; peer < transport.worldSize(); peer++) {
            if (find(peer) == null && peer != transport.rank() && transport.isOpenedBy(peer, Lane.POINT_TO_POINT)) {
                to(peer);
                any = true;
            }
        }
        return any;
    }

    /** Opens the channels in shared memory on which messages have come. */
    private boolean openShared() {
        boolean any = false;
        for (int peer = 0; peer < transport.worldSize(); peer++) {
            if (intraNode.hasUnexpected(peer, Lane.POINT_TO_POINT) && find(peer) == null) {
                to(peer);
                any = true;
            }
        }
        return any;
    }

    void send(Transfer send) {
        with(send.peer).send(send);
    }

    void receive(Transfer receive) {
        receive.number = ++received;
        int source = receive.isFromAny() ? sourceFor(receive) : receive.peer;
        if (receive.kind == MessageKind.PROBE) {
            probe(receive, source);
        } else if (source < 0) {
            fromAny.add(receive);
        } else {
            with(source).receive(receive);
        }
    }

    void receiveMatched(Transfer receive) {
        with(receive.peer).receive(receive.held, receive);
    }

    private void probe(Transfer probe, int source) {
        MatchingQueues.UnexpectedMessage message =
                source < 0 ? null : with(source).findUnexpected(probe);
        if (message == null) {
            probes.add(probe);
        } else {
            with(source).end(probe, message);
        }
    }

    /** Returns the rank whose waiting message a receive from any rank takes; -1 if no message waits for it. */
    private int sourceFor(Transfer receive) {
        // without an open channel, a peer would never be served while other peers always have messages
        openUsed();
        if (lastTaken == null) {
            lastTaken = new long[transport.worldSize()];
        }
        int source = -1;
        for (int rank = 0; rank < transport.worldSize(); rank++) {
            boolean isOpen = rank == transport.rank() || find(rank) != null;
            boolean isEarlier = source < 0 || lastTaken[rank] < lastTaken[source];
            if (isOpen && isEarlier && with(rank).findUnexpected(receive) != null) {
                source = rank;
            }
        }
        if (source >= 0 && receive.kind != MessageKind.PROBE) {
            // a probe does not count, because the receive of its message counts
            lastTaken[source] = receive.number;
        }
        return source;
    }

    /** Queues a go-ahead that a peer has repeated. Thread-safe. */
    void goAhead(int peer, long announcement) {
        repeated.add(new RepeatedGoAhead(peer, announcement));
    }

    /** Sends the elements of the messages whose go-aheads were repeated. */
    void startAnnounced() {
        for (RepeatedGoAhead next = repeated.poll(); next != null; next = repeated.poll()) {
            to(next.peer).startAnnounced(next.announcement);
        }
    }

    void giveUp(Transfer receive) {
        if (receive.kind == MessageKind.PROBE) {
            probes.remove(receive);
        } else if (receive.isFromAny()) {
            fromAny.remove(receive);
        } else {
            with(receive.peer).giveUp(receive);
        }
    }

    /** Returns advice for a send if ranks wait for each other and a message of one rank is unreceived; else empty. */
    String crossing(Diagnosis.Blame verdict) {
        boolean isCrossing = verdict.isNoRankAlone()
                && verdict.culprits().stream()
                        .anyMatch(peer -> find(peer) != null && find(peer).hasUnexpected());
        return isCrossing ? "; " + FailureHints.CROSSING : "";
    }

    /**
     * Returns a text about the peers of a receive from which this rank reads no more messages. Returns an empty text if
     * this rank still reads from all these peers.
     */
    String unreceived(Transfer receive, IntFunction<String> named) {
        StringBuilder text = new StringBuilder();
        for (int peer = 0; peer < transport.worldSize(); peer++) {
            boolean isAwaited = receive.isFromAny() || receive.peer == peer;
            if (isAwaited && find(peer) != null && find(peer).isFull()) {
                text.append("; " + size() + " from " + named.apply(peer) + " wait unreceived");
            }
        }
        return text.isEmpty()
                ? ""
                : text.append(", so no later message is read: receive these first, or set a larger ")
                        .append(Settings.MESSAGE_BUFFER.name())
                        .toString();
    }

    /** Returns a text about when a peer reads messages, for an eager send that waits for the peer; else empty. */
    String unread(Transfer send) {
        return send.isEager()
                ? "; a rank reads messages while it is in a call of the group, and keeps at most " + size()
                        + " of each rank that no receive has taken: receive between the sends, or set a larger "
                        + Settings.MESSAGE_BUFFER.name()
                : "";
    }

    private String size() {
        if (keptLimit % (1 << 20) == 0) {
            return (keptLimit >> 20) + " MiB";
        }
        return keptLimit + (keptLimit == 1 ? " byte" : " bytes");
    }

    private MatchingQueues with(int rank) {
        return rank == transport.rank() ? own : to(rank);
    }

    private PeerMessageChannel to(int peer) {
        PeerMessageChannel channel = find(peer);
        if (channel == null) {
            channel = new PeerMessageChannel(peer, links.to(peer), this);
            if (byPeer.length == 0) {
                byPeer = new PeerMessageChannel[transport.worldSize()];
            }
            byPeer[peer] = channel;
            opened.add(channel);
        }
        return channel;
    }

    /** Returns the channel of a peer, or null if the channel is not open. */
    private PeerMessageChannel find(int peer) {
        return peer < byPeer.length ? byPeer[peer] : null;
    }

    /**
     * The channel of this rank to itself, which never uses a link. The channel keeps small messages, so that their sends
     * return at once. Guarded by the progress lock.
     */
    static final class SelfMessageChannel extends MatchingQueues {
        /** Number of bytes that are copied at once if a send and its receive have different element types. */
        private static final long PIECE_BYTES = 1 << 20;

        SelfMessageChannel(int rank, PeerMessageChannels channels) {
            super(rank, channels);
        }

        @Override
        void send(Transfer send) {
            Transfer receive = takeReceive(send.tag);
            HostTensor data = send.tensor;
            if (receive != null && receive.kind != MessageKind.MATCH) {
                if (matches(receive, send.tag, data.dataType(), data.byteCount())) {
                    deliver(send, receive);
                }
                return;
            }
            boolean isEager = send.isEager();
            UnexpectedMessage message = isEager
                    ? UnexpectedMessage.of(send.tag, data)
                    : new UnexpectedMessage(send.tag, data.dataType(), data.byteCount(), true);
            message.ownSend = isEager ? null : send;
            keep(message, receive);
            if (isEager) {
                owner.finish(send);
            }
        }

        @Override
        void receive(UnexpectedMessage message, Transfer receive) {
            if (message.content == null) {
                deliver(message.ownSend, receive);
                return;
            }
            message.copyInto(receive.tensor);
            owner.finish(receive);
        }

        private void deliver(Transfer send, Transfer receive) {
            HostTensor from = send.tensor;
            long count = receive.elements();
            HostTensor full = receive.tensor;
            HostTensor into = count == full.elementCount() ? full : full.slice(0, count);
            if (from.dataType() == into.dataType()) {
                into.copyFrom(0, from, 0, from.elementCount());
            } else {
                convert(from, into);
            }
            owner.finish(receive);
            owner.finish(send);
        }

        /** Copies the bits of elements of one type to elements of another type, in pieces. */
        private static void convert(HostTensor from, HostTensor into) {
            long bytes = from.byteCount();
            for (long done = 0; done < bytes; done += PIECE_BYTES) {
                long piece = Math.min(PIECE_BYTES, bytes - done);
                UnexpectedMessage.of(0, part(from, done, piece)).copyInto(part(into, done, piece));
            }
        }

        private static HostTensor part(HostTensor of, long fromByte, long bytes) {
            int unit = of.dataType().byteSize();
            return of.slice(fromByte / unit, bytes / unit);
        }
    }
}
