package ferro.backend.tcp.mesh;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.backend.tcp.connect.Addresses;
import ferro.backend.tcp.connect.ConnectAttempts;
import ferro.backend.tcp.connect.Drain;
import ferro.backend.tcp.connect.Hello;
import ferro.backend.tcp.connect.Refusal;
import ferro.backend.tcp.connect.TcpDialer;
import ferro.backend.tcp.connect.TcpIo;
import ferro.backend.tcp.connect.TcpListener;
import ferro.backend.tcp.connect.TlsDuplex;
import ferro.backend.tcp.connect.TlsHandshake;
import ferro.backend.tcp.rendezvous.TcpPort;
import ferro.spi.Deadlines;
import ferro.spi.GroupSpec;
import io.netty.channel.Channel;
import io.netty.util.AttributeKey;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

/** A group's control connections and all their frames. Only on the loop, except for {@link #send} and the futures. */
public final class Peers implements TcpListener.Guest, ControlConnection.FrameReceiver {
    /** A peer that leaves more than this unread counts as lost. */
    private static final long MOST_WAITING_BYTES = 16L << 20;

    /** Time for dialling a data connection that ended again: its peer was there before, and calls wait for it. */
    private static final long REDIAL_NANOS = 10_000_000_000L;

    private static final AttributeKey<Hello> SAID = AttributeKey.valueOf("ferro.peer.hello");

    private final GroupSpec spec;
    private final TcpPort port;
    private final long id;
    final Inboxes inboxes; // on the loop
    private final Admission admission;
    private final DataChannels data;
    private final Drain drain;
    /** Slots of the peers, filled by connections that have proved themselves. */
    private final Channel[] slots;

    private final AtomicReferenceArray<ControlConnection> connections;
    private final FerroException[] lost;
    private final MayLive mayLive;
    private final PeerEnds ends;
    private final BitSet up = new BitSet();
    /** Peers whose connections are encrypted; set before {@link #ready} completes. */
    private final BitSet encrypted = new BitSet();

    private final BitSet readyPeers = new BitSet();
    private final CompletableFuture<Void> ready = new CompletableFuture<>();
    private final List<CompletableFuture<Channel>> dialling = new ArrayList<>();
    private final PeerAttempts attempts;
    /** Records of the peers; null until {@link #connect}. */
    private volatile PeerRecord[] known;
    /** The round trip time that rank 0 has measured and told to the others. */
    private volatile int distanceMicros;

    private boolean closed;

    /** Makes the control connections of a group; none is open yet. */
    public Peers(GroupSpec spec, TcpPort port, long id) {
        this.spec = spec;
        this.port = port;
        this.id = id;
        inboxes = new Inboxes(spec.worldSize());
        admission = new Admission(spec, port.io().checksum());
        data = new DataChannels(this, inboxes, admission);
        drain = new Drain(port.loop());
        slots = new Channel[spec.worldSize()];
        connections = new AtomicReferenceArray<>(spec.worldSize());
        lost = new FerroException[spec.worldSize()];
        mayLive = new MayLive(port);
        ends = new PeerEnds(connections, this::report);
        attempts = new PeerAttempts(spec, port);
    }

    int rank() {
        return spec.rank();
    }

    Where where() {
        return Where.of(spec.name(), spec.rank());
    }

    TcpIo io() {
        return port.io();
    }

    /** Returns a future that completes when all control connections are up, here and on all peers, or fails. */
    CompletableFuture<Void> ready() {
        return ready;
    }

    /** Connects to the higher ranks; the lower ranks connect to this one. */
    void connect(PeerRecord[] peers, long deadlineNanos) {
        known = peers;
        attempts.known();
        for (int peer = spec.rank() + 1; peer < spec.worldSize(); peer++) {
            int to = peer;
            CompletableFuture<Channel> dialled = port.dialer()
                    .dial(
                            call(to, Hello.ConnectionKind.CONTROL, Hello.ChannelIdentity.NONE, deadlineNanos),
                            attempts.notes(to));
            dialling.add(dialled);
            dialled.whenComplete(new BiConsumer<>() {
                @Override
                public void accept(Channel channel, Throwable failure) {
                    if (channel != null) {
                        attach(to, channel);
                    } else {
                        ready.completeExceptionally(failure);
                    }
                }
            });
        }
    }

    CompletableFuture<Channel> dialData(DataKey key, int epoch, Supplier<FerroException> hopeless) {
        Hello.ChannelIdentity channel =
                new Hello.ChannelIdentity(key.group(), (byte) key.lane().ordinal(), epoch);
        long most = Deadlines.nanos(spec.timeout());
        long deadline = port.now() + (epoch == 0 || io().debug() ? most : Math.min(most, REDIAL_NANOS));
        TcpDialer.DialledPeer called = call(key.peer(), Hello.ConnectionKind.DATA, channel, deadline);
        return port.dialer().dial(called, hopeless, new ConnectAttempts(port::now));
    }

    private TcpDialer.DialledPeer call(
            int to, Hello.ConnectionKind kind, Hello.ChannelIdentity channel, long deadlineNanos) {
        return new TcpDialer.DialledPeer(
                known[to]::addresses,
                kind,
                new Hello.Peering(id, spec.rank(), spec.worldSize(), to),
                channel,
                "rank " + to + " of \"" + spec.name() + "\" at " + Addresses.text(known[to].addresses()),
                where(),
                deadlineNanos);
    }

    @Override
    public void admit(Hello hello, Channel channel) throws Refusal {
        admission.check(hello);
        if (hello.kind() == Hello.ConnectionKind.DATA) {
            data.admit(hello, channel);
        } else if (hello.kind() == Hello.ConnectionKind.CONTROL) {
            takeSlot(hello.member().rank(), hello, channel);
        }
    }

    /**
     * Takes the slot of a peer. An earlier attempt of the same process that is not confirmed gives way: the process has given it
     * up, although its end is not known here yet.
     */
    private void takeSlot(int peer, Hello hello, Channel channel) throws Refusal {
        Channel former = slots[peer];
        if (former != null && hello.isOlderThan(former.attr(SAID).get())) {
            throw admission.outdated(hello);
        }
        if (former != null
                && connections.get(peer) == null
                && lost[peer] == null
                && hello.asksAgain(former.attr(SAID).get())) {
            slots[peer] = null;
            former.close();
        }
        if (slots[peer] != null) {
            throw admission.taken(peer);
        }
        slots[peer] = channel;
        channel.attr(SAID).set(hello);
        channel.closeFuture().addListener(ended -> freeSlot(channel));
    }

    private void freeSlot(Channel channel) {
        int peer = channel.attr(SAID).get().member().rank();
        if (slots[peer] == channel && connections.get(peer) == null) {
            slots[peer] = null;
        }
    }

    @Override
    public void entered(Hello hello, Channel channel) {
        if (closed || hello.kind() == Hello.ConnectionKind.ALIVE) {
            channel.close();
        } else if (hello.kind() == Hello.ConnectionKind.DATA) {
            data.enter(hello, channel);
        } else {
            attach(hello.member().rank(), channel);
        }
    }

    /** Keeps the reason for messages. The hello need not be proved: whoever sent it may be another one. */
    @Override
    public void refused(Hello hello, SocketAddress from, Refusal refusal) {
        int peer = hello.member().rank();
        if (hello.kind() == Hello.ConnectionKind.CONTROL && peer >= 0 && peer < spec.rank()) {
            attempts.refused(peer, (InetSocketAddress) from, refusal);
        }
    }

    /** Fails the join, or tells the lower ranks, of which one could wait for the connection until its deadline. */
    @Override
    public void notAccepted(String lacking) {
        String text = "rank " + spec.rank() + " of \"" + spec.name() + "\" cannot accept a connection: " + lacking;
        Where own = where().blaming(spec.rank());
        if (!ready.completeExceptionally(new FerroException(Code.RESOURCE, own, text))) {
            ControlFrame said = ControlFrame.notAccepted(new Refusal(Code.RESOURCE, text));
            for (int peer = 0; peer < spec.rank(); peer++) {
                send(peer, said);
            }
        }
    }

    /** Returns whether connections to a peer are encrypted, like the control one; any thread, once peers are ready. */
    boolean encrypts(int peer) {
        return encrypted.get(peer);
    }

    private void attach(int peer, Channel channel) {
        if (closed) {
            channel.close();
            return;
        }
        try {
            attached(peer, channel);
        } catch (OutOfMemoryError | LinkageError failure) {
            channel.close();
            broken(peer, failure);
        }
    }

    private void attached(int peer, Channel channel) {
        ControlConnection connection = new ControlConnection(peer, channel, this, io().checksum());
        // before the first frame is sent
        encrypted.set(peer, TlsDuplex.install(channel));
        connections.set(peer, connection);
        up.set(peer);
        if (up.cardinality() == spec.worldSize() - 1) {
            ControlFrame said = ControlFrame.bare(ControlFrame.Type.READY);
            if (spec.rank() == 0) {
                distanceMicros = attempts.middleMicros();
                said = ControlFrame.ready(distanceMicros);
            }
            for (int one : RankArrays.others(spec)) {
                send(one, said);
            }
        }
        channel.pipeline().addLast(connection);
        checkReady();
    }

    @Override
    public void broken(Hello hello, LinkageError cause) {
        broken(hello.member().rank(), cause);
    }

    /** Fails the join, or the joined group, by an error of this rank that the peer has not caused; on the loop. */
    void broken(int peer, Throwable cause) {
        FerroException failure = ownFailure(peer, cause);
        if (!ready.completeExceptionally(failure) && connections.get(peer) != null) {
            gone(peer, failure);
        }
    }

    private void checkReady() {
        int all = spec.worldSize() - 1;
        if (up.cardinality() == all && readyPeers.cardinality() == all) {
            ready.complete(null);
        }
    }

    /** Returns the ranks that are not ready yet, for messages. */
    List<Integer> notReady() {
        List<Integer> missing = new ArrayList<>();
        for (int peer : RankArrays.others(spec)) {
            if (!up.get(peer) || !readyPeers.get(peer)) {
                missing.add(peer);
            }
        }
        return List.copyOf(missing);
    }

    /** Returns what was tried to connect to those ranks, for messages; any thread may call. */
    List<Unconnected> unconnected() {
        PeerRecord[] all = known;
        return all == null
                ? List.of()
                : notReady().stream()
                        .map(peer -> attempts.unconnected(peer, all[peer], up.get(peer)))
                        .toList();
    }

    /** Sends a frame to a peer; does nothing if the peer is lost; any thread may call. */
    void send(int peer, ControlFrame frame) {
        ControlConnection connection = connections.get(peer);
        if (connection == null) {
            return;
        }
        connection.send(frame);
        if (connection.waitingBytes() > MOST_WAITING_BYTES) {
            String full =
                    connection.waitingBytes() + " bytes of control messages wait for the peer, but it reads nothing";
            port.loop().run(() -> connection.end(new Refusal(Code.PARTITION, full)));
        }
    }

    /** Runs a task once all that has come from a peer is handled; at once if the peer is lost. */
    void afterControl(int peer, Runnable task) {
        ControlConnection connection = connections.get(peer);
        if (connection == null) {
            task.run();
        } else {
            connection.afterReading(task);
        }
    }

    @Override
    public void received(int peer, ControlFrame frame) {
        switch (frame.type()) {
            case MESSAGE -> {
                ByteBuffer message = ByteBuffer.wrap(frame.body()).asReadOnlyBuffer();
                if (!inboxes.deliver(frame.group(), new Inboxes.ControlDelivery(peer, message))) {
                    send(peer, ControlFrame.closed(frame.group()));
                }
            }
            case OPEN_DATA, NO_DATA, NOT_ACCEPTED -> data.received(DataKey.of(peer, frame), frame);
            case READY -> {
                if (peer == 0 && frame.body().length == Integer.BYTES) {
                    distanceMicros = ByteBuffer.wrap(frame.body()).getInt();
                }
                readyPeers.set(peer);
                checkReady();
            }
            case REFUSED -> {
                Refusal why = Refusal.decoded(ByteBuffer.wrap(frame.body()));
                gone(peer, failure(peer, why.code(), "refused a message of this rank: " + why.getMessage(), why));
            }
            case GOODBYE -> {
                ends.closes(peer);
                gone(peer, closedBy(peer));
            }
            case CLOSED -> inboxes.deliver(frame.group(), listener -> listener.closed(peer, closedBy(peer)));
        }
    }

    @Override
    public void ended(int peer, Throwable cause) {
        if (cause instanceof RuntimeException || cause instanceof Error) {
            gone(peer, ownFailure(peer, cause));
            return;
        }
        Code code = cause instanceof Refusal refusal ? refusal.code() : Code.PEER_LOST;
        String why = cause == null ? "" : ": " + cause.getMessage();
        FerroException gone =
                failure(peer, code, "is gone: its control connection ended without a goodbye" + why, cause);
        if (code == Code.PEER_LOST && known != null && !closed) {
            long deadline = port.now() + MayLive.ANSWER_NANOS;
            TcpDialer.DialledPeer call = call(peer, Hello.ConnectionKind.ALIVE, Hello.ChannelIdentity.NONE, deadline);
            mayLive.ask(MayLive.connectedAt(connections.get(peer).channel().remoteAddress(), call), gone, this::died);
        }
        gone(peer, gone);
    }

    /** Returns the failure for an exception of this rank, which the peer has not caused. */
    FerroException ownFailure(int peer, Throwable cause) {
        boolean memory = cause instanceof OutOfMemoryError;
        String text = "rank " + spec.rank() + " of \"" + spec.name() + "\" "
                + (memory ? "ran out of memory for" : "failed with an exception on")
                + " its control connection to rank " + peer + ": " + (memory ? cause.getMessage() : cause);
        return new FerroException(memory ? Code.RESOURCE : Code.ABORTED, where().blaming(spec.rank()), text, cause);
    }

    FerroException failure(int peer, Code code, String what, Throwable cause) {
        String text = "rank " + peer + " of \"" + spec.name() + "\" at " + remote(peer) + " " + what + " (seen by rank "
                + spec.rank() + ")";
        return new FerroException(code, where().blaming(peer), text, cause);
    }

    private FerroException closedBy(int peer) {
        return failure(peer, Code.PEER_LOST, "closed the group", null);
    }

    private String remote(int peer) {
        PeerRecord[] all = known;
        return all != null ? Addresses.text(all[peer].addresses()) : "" + slots[peer].remoteAddress();
    }

    private void gone(int peer, FerroException cause) {
        if (closed || lost[peer] != null) {
            return;
        }
        lost[peer] = cause;
        connections.getAndSet(peer, null).drop();
        if (!readyPeers.get(peer)) {
            ready.completeExceptionally(new FerroException(
                    Code.RENDEZVOUS, cause.where(), cause.getMessage() + " while the group was being joined", cause));
        }
        ends.add(peer);
        data.gone(peer, cause);
    }

    private void report(TcpMesh.Listener listener, int peer) {
        if (ends.hasClosed(peer)) {
            listener.closed(peer, lost[peer]);
        } else if (mayLive.contains(peer)) {
            listener.cutOff(peer, lost[peer]);
        } else {
            listener.lost(peer, lost[peer]);
        }
    }

    private void report(int peer) {
        inboxes.tellAll(listener -> report(listener, peer));
    }

    private void died(int peer) {
        if (ends.isReported(peer)) {
            report(peer);
        }
    }

    /** Returns why a peer is lost, or null if it is not lost. */
    FerroException lost(int peer) {
        return lost[peer];
    }

    /** Returns the round trip time of rank 0 to ranks of other hosts, equal on all ranks once ready; 0 if not known. */
    int distanceMicros() {
        return distanceMicros;
    }

    void register(long group, TcpMesh.Listener listener) {
        inboxes.register(group, listener);
        for (int peer : RankArrays.others(spec)) {
            if (ends.isReported(peer)) {
                report(listener, peer);
            }
        }
    }

    void unregister(long group) {
        inboxes.unregister(group);
        data.forget(group);
    }

    void openData(DataKey key, int epoch) {
        if (!closed) {
            data.open(key, epoch);
        }
    }

    /** Closes a data connection in good order. */
    void drain(Channel channel) {
        if (closed) {
            TlsHandshake.closeAtOnce(channel);
        } else {
            drain.take(channel);
        }
    }

    /** Sends goodbye if {@code inOrder}, and drops all connections; completes when all frames have left. */
    CompletableFuture<Void> close(boolean inOrder) {
        closed = true;
        port.leave(id);
        dialling.forEach(one -> one.cancel(false));
        mayLive.close();
        data.close();
        drain.close();
        inboxes.close();
        List<CompletableFuture<Void>> leaving = new ArrayList<>();
        for (int peer : RankArrays.others(spec)) {
            ControlConnection connection = connections.getAndSet(peer, null);
            if (connection != null) {
                leaving.add(connection.leave(inOrder));
            } else if (slots[peer] != null) {
                slots[peer].close();
            }
        }
        return CompletableFuture.allOf(leaving.toArray(new CompletableFuture<?>[0]));
    }
}
