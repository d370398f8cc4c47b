package ferro.backend.tcp.mesh;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.InvalidRankException;
import ferro.RankEnd;
import ferro.backend.tcp.net.AddressLookup;
import ferro.backend.tcp.net.ConnectAttempts;
import ferro.backend.tcp.net.Hello;
import ferro.backend.tcp.net.LoopWaiter;
import ferro.backend.tcp.net.Refusal;
import ferro.backend.tcp.net.RoundTripTimes;
import ferro.backend.tcp.net.SocketConfig;
import ferro.backend.tcp.net.TcpDialer;
import ferro.backend.tcp.net.TcpListener;
import ferro.backend.tcp.net.TlsHandler;
import ferro.backend.tcp.net.TlsHandshakeHandler;
import ferro.backend.tcp.store.EndedRanks;
import ferro.backend.tcp.store.TcpPort;
import ferro.spi.Deadlines;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.SharedMemoryProvider;
import io.netty.channel.Channel;
import io.netty.util.AttributeKey;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The connections to the other ranks of a joined group: one authenticated control connection to each rank, and data
 * connections on demand. Any thread may call the public methods, and {@link #send}. The background loop does the work.
 * On the background loop, the port and the connections call this class by {@link TcpListener.ConnectionReceiver} and
 * {@link ControlConnection.FrameReceiver}.
 */
public final class TcpMesh implements AutoCloseable, TcpListener.ConnectionReceiver, ControlConnection.FrameReceiver {
    /** Maximum time that the last close waits for the store and for the last frames together. */
    public static final Duration MAX_FLUSH = Duration.ofSeconds(1);

    /** Maximum number of bytes of frames that wait for a peer. With more bytes, the peer is blamed with PARTITION. */
    private static final long MOST_WAITING_BYTES = 16L << 20;

    /**
     * Time limit to replace a data connection that ended. The limit is short, because the peer was reachable before,
     * and calls wait meanwhile.
     */
    private static final long REDIAL_NANOS = 10_000_000_000L;

    private static final AttributeKey<Hello> SAID = AttributeKey.valueOf("ferro.peer.hello");

    private final GroupSpec spec;
    final Where where;
    private final RankContext context;
    private final SocketConfig io;
    /**
     * The port of this rank. In a group of one rank, which has no sockets, port, drain, attempts and mayLive are null.
     */
    private final TcpPort port;

    private final DrainingConnections drain;
    private final PeerAttempts attempts;
    private final DisconnectedPeers mayLive;
    private final long id;
    private final Consumer<Duration> left;
    final InboxRouter inboxes; // on the loop
    private final AdmissionCheck admission;
    private final DataChannels data;
    /**
     * For each lower rank, the authenticated channel of its control connection; null before the rank has connected.
     * Always null for a higher rank, because this rank connects to it.
     */
    private final Channel[] slots;

    private final AtomicReferenceArray<ControlConnection> connections;
    final FerroException[] lost; // null for a peer that is not lost
    private final PeerEndReporter ends;
    private final BitSet up = new BitSet();
    /** Peers whose connections are encrypted; set before {@link #ready} completes. */
    private final BitSet encrypted = new BitSet();

    private final BitSet readyPeers = new BitSet();
    /** A future that completes when this rank and all peers have all control connections, or fails. */
    final CompletableFuture<Void> ready = new CompletableFuture<>();

    private final List<CompletableFuture<Channel>> dialling = new ArrayList<>();
    /** The published data of the peers; null until {@link #connect}. */
    private volatile PeerRecord[] known;

    private volatile int distanceMicros;

    /** The data that ranks have published during the join. Set once. */
    volatile JoinResults joined =
            new JoinResults(0, NodeMemoryProvider.none(), List.of(), List.of(), EndedRanks.unknown());

    private boolean closed; // on the loop
    private final AtomicInteger users = new AtomicInteger(1);

    /**
     * The data that ranks have published during the join.
     *
     * @param deadlineNanos end of the join, on the clock of the context
     * @param memory        how ranks share memory
     * @param hosts         published address or name of each rank; empty in a group of one rank
     * @param machines      readable name of the machine of each rank; empty in a group of one rank
     * @param ends          reports of launchers about how ranks ended
     */
    record JoinResults(
            long deadlineNanos,
            NodeMemoryProvider memory,
            List<String> hosts,
            List<String> machines,
            EndedRanks ends) {}

    /**
     * Creates a mesh without connections.
     *
     * @param context context with the settings; the context also releases the port
     * @param port    port, which this mesh uses until it is closed; null in a group of one rank
     * @param id      identity of the group, which connections must name
     * @param left    called at the last close, before the port is released; receives the time that the call may take
     */
    TcpMesh(GroupSpec spec, RankContext context, TcpPort port, long id, Consumer<Duration> left) {
        this.spec = spec;
        where = Where.of(spec.name(), spec.rank());
        this.context = context;
        this.port = port;
        this.id = id;
        this.left = left;
        io = port == null ? SocketConfig.of(context) : port.io();
        inboxes = new InboxRouter(spec.worldSize());
        admission = new AdmissionCheck(spec, io.checksum());
        data = new DataChannels(this, inboxes, admission);
        drain = port == null ? null : new DrainingConnections(port.loop());
        attempts = port == null ? null : new PeerAttempts(spec, port);
        mayLive = port == null ? null : new DisconnectedPeers(port);
        slots = new Channel[spec.worldSize()];
        connections = new AtomicReferenceArray<>(spec.worldSize());
        lost = new FerroException[spec.worldSize()];
        ends = new PeerEndReporter(connections, this::report);
    }

    /**
     * Joins the group: binds, opens the store, publishes this rank, waits for the other ranks, and connects to each
     * rank.
     *
     * @throws FerroException RENDEZVOUS, PROTOCOL, UNAUTHENTICATED or INTERRUPTED, at the latest at the deadline of the
     *     join
     */
    public static TcpMesh join(GroupSpec group, RankContext context) {
        return group.worldSize() == 1
                ? new TcpMesh(group, context, null, 0, within -> {})
                : new TcpJoin(group, context).join();
    }

    /** Returns the time until the deadline of the join, at least 1 ns. */
    public Duration joinLeft() {
        return port == null
                ? Deadlines.ofJoin(spec, context)
                : Duration.ofNanos(Math.max(1, joined.deadlineNanos() - context.nanoTime()));
    }

    /** Returns the published addresses of the given ranks, in the same order; empty in a group of one rank. */
    public List<String> hosts(int[] ranks) {
        List<String> ofRanks = new ArrayList<>();
        for (int at = 0; at < ranks.length && !joined.hosts().isEmpty(); at++) {
            ofRanks.add(joined.hosts().get(ranks[at]));
        }
        return List.copyOf(ofRanks);
    }

    /** Returns the machine of a rank; empty if unknown. */
    String machine(int peer) {
        List<String> known = joined.machines();
        return known.isEmpty() ? "" : known.get(peer);
    }

    /** Calls a receiver when the launcher of a rank reports how the rank's process has ended. */
    void whenEnded(int peer, Consumer<RankEnd> receiver) {
        joined.ends().when(peer, receiver);
    }

    /**
     * Returns the provider through which the given ranks share memory. The result is present on all given ranks or on
     * none.
     */
    public Optional<SharedMemoryProvider> sharedMemory(int[] ranks) {
        return joined.memory().among(ranks);
    }

    /** Returns the reason why the given ranks share no memory; empty if the given ranks share memory. */
    public String noSharedMemoryBecause(int[] ranks) {
        return joined.memory().lackingAmong(ranks);
    }

    /** Returns whether the round trip between hosts is long. The result is the same on all ranks. */
    public boolean isFar() {
        return RoundTripTimes.areFar(distanceMicros);
    }

    /** Returns the median round trip time of rank 0 to ranks of other hosts, in microseconds; 0 if unknown. */
    public int distanceMicros() {
        return distanceMicros;
    }

    /** Returns the number of this rank in the joined group. */
    public int rank() {
        return spec.rank();
    }

    int worldSize() {
        return spec.worldSize();
    }

    /** Returns the joined group. */
    public GroupSpec spec() {
        return spec;
    }

    /** Returns the options with which sockets are created. */
    public SocketConfig io() {
        return io;
    }

    /** Sends a copy of a control message of at most 4 KiB. Never waits. The message is never queued behind data. */
    void control(int peer, long group, ByteBuffer message) {
        check(peer);
        send(peer, ControlFrame.message(group, message));
    }

    /**
     * Runs a task on the background loop after all frames of a peer that arrived before this call were passed to their
     * receivers.
     *
     * @return false if the loop has ended and the task will not run
     */
    boolean afterControl(int peer, Runnable task) {
        check(peer);
        return port.loop().run(() -> {
            ControlConnection connection = connections.get(peer);
            if (connection == null) {
                task.run();
            } else {
                connection.afterReading(task);
            }
        });
    }

    /**
     * Registers the receiver of a group, on the background loop. Events of the group that arrived before this call are
     * delivered first.
     */
    void register(long group, InboxRouter.GroupReceiver receiver) {
        onLoop(new Runnable() {
            @Override
            public void run() {
                hear(group, receiver);
            }
        });
    }

    /** Removes the receiver of {@link #register}; a running call of the receiver continues. */
    void unregister(long group) {
        onLoop(() -> {
            inboxes.unregister(group);
            data.forget(group);
        });
    }

    /** Requests a data connection. Both sides receive exactly one connection per epoch, even after several requests. */
    public void openData(int peer, long group, ConnectionPurpose lane, int epoch) {
        check(peer);
        onLoop(new DataChannels.OpenDataTask(this, new ChannelKey(peer, group, lane), epoch));
    }

    /** Closes a data connection normally. No thread may poll the connection any more. */
    public void drain(Channel channel) {
        if (port == null || !port.loop().run(() -> drainUnlessClosed(channel))) {
            TlsHandshakeHandler.closeAtOnce(channel);
        }
    }

    private void drainUnlessClosed(Channel channel) {
        if (closed) {
            TlsHandshakeHandler.closeAtOnce(channel);
        } else {
            drain.take(channel);
        }
    }

    /**
     * Returns whether data is encrypted, either between hosts or everywhere. The result is the same on all members,
     * because connections are plain only between ranks of one host.
     *
     * @param members ranks of a group
     */
    public boolean encrypts(int[] members) {
        for (int rank : members) {
            if (rank != spec.rank() && encrypted.get(rank)) {
                return true;
            }
        }
        return false;
    }

    boolean servesStore() {
        return port != null && port.servesStore();
    }

    private void check(int peer) {
        if (peer < 0 || peer >= spec.worldSize() || peer == spec.rank()) {
            throw new InvalidRankException(peer, spec.worldSize());
        }
    }

    private void onLoop(Runnable task) {
        if (port != null && users.get() > 0) {
            port.loop().run(task);
        }
    }

    void retain() {
        if (users.getAndUpdate(count -> count <= 0 ? count : count + 1) <= 0) {
            throw new IllegalStateException("rank " + spec.rank() + " of \"" + spec.name()
                    + "\" has closed its connections: no group uses them any more");
        }
    }

    /** Removes one user of this mesh. The last user closes the control connections normally and releases the port. */
    @Override
    public void close() {
        close(MAX_FLUSH);
    }

    /** Closes like {@link #close()}. The last user waits at most {@code within} for the store and the last frames. */
    void close(Duration within) {
        if (users.getAndUpdate(count -> Math.max(0, count - 1)) == 1 && port != null) {
            leave(true, within);
        }
    }

    /** Drops all connections without a goodbye, as if the process ended; for tests and failed joins. */
    public void drop() {
        if (users.getAndSet(0) > 0 && port != null) {
            leave(false, MAX_FLUSH);
        }
    }

    private void leave(boolean inOrder, Duration within) {
        Duration flush = within.compareTo(MAX_FLUSH) < 0 ? within : MAX_FLUSH;
        long until = System.nanoTime() + Deadlines.nanos(flush);
        CompletableFuture<Void> over = new CompletableFuture<>();
        port.loop().run(() -> closed(inOrder).whenComplete((done, failure) -> over.complete(null)));
        left.accept(flush);
        if (!port.loop().inLoop()) {
            // waits until the last frames are sent; if a peer reads nothing, the wait ends at the deadline
            LoopWaiter.uninterrupted(over, Math.max(0, until - System.nanoTime()));
        }
        context.release(TcpPort.class);
    }

    /** Connects to the higher ranks. The lower ranks connect to this rank. */
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

    CompletableFuture<Channel> dialData(ChannelKey key, int epoch, Supplier<FerroException> hopeless) {
        Hello.ChannelIdentity channel =
                new Hello.ChannelIdentity(key.group(), (byte) key.lane().ordinal(), epoch);
        long most = Deadlines.nanos(spec.timeout());
        long deadline = port.now() + (epoch == 0 || io.debug() ? most : Math.min(most, REDIAL_NANOS));
        TcpDialer.DialledPeer called = call(key.peer(), Hello.ConnectionKind.DATA, channel, deadline);
        return port.dialer().dial(called, hopeless, new ConnectAttempts(port::now));
    }

    private TcpDialer.DialledPeer call(
            int to, Hello.ConnectionKind kind, Hello.ChannelIdentity channel, long deadlineNanos) {
        return new TcpDialer.DialledPeer(
                known[to]::addresses,
                kind,
                new Hello.RankPair(id, spec.rank(), spec.worldSize(), to),
                channel,
                "rank " + to + " of \"" + spec.name() + "\" at " + AddressLookup.text(known[to].addresses()),
                where,
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
     * Sets the control connection to a peer. Closes an earlier, unconfirmed attempt of the same process. The process
     * has given up the earlier attempt, but this rank has not yet detected its end.
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
        channel.closeFuture().addListener(ended -> {
            if (slots[peer] == channel && connections.get(peer) == null) {
                slots[peer] = null;
            }
        });
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

    /** Stores a refusal for messages. The hello may be unauthenticated, so any process may have sent it. */
    @Override
    public void refused(Hello hello, SocketAddress from, Refusal refusal) {
        int peer = hello.member().rank();
        if (hello.kind() == Hello.ConnectionKind.CONTROL && peer >= 0 && peer < spec.rank()) {
            attempts.refused(peer, (InetSocketAddress) from, refusal);
        }
    }

    /**
     * Fails the join, or notifies the lower ranks after the join. Without notice, a lower rank would wait for the
     * connection until its deadline.
     */
    @Override
    public void notAccepted(String lacking) {
        String text = "rank " + spec.rank() + " of \"" + spec.name() + "\" cannot accept a connection: " + lacking;
        Where own = where.blaming(spec.rank());
        if (!ready.completeExceptionally(new FerroException(Code.RESOURCE, own, text))) {
            ControlFrame said = ControlFrame.notAccepted(new Refusal(Code.RESOURCE, text));
            for (int peer = 0; peer < spec.rank(); peer++) {
                send(peer, said);
            }
        }
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
        ControlConnection connection = new ControlConnection(peer, channel, this, io.checksum());
        // installs TLS before the first frame is sent
        encrypted.set(peer, TlsHandler.install(channel));
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

    /**
     * Fails the join or the joined group because of an error on this rank that no peer has caused; called on the loop.
     */
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

    /** Returns the attempts to connect to ranks that are not ready, for messages; any thread may call this method. */
    List<UnconnectedRank> unconnected() {
        PeerRecord[] all = known;
        return all == null
                ? List.of()
                : notReady().stream()
                        .map(peer -> attempts.unconnected(peer, all[peer], up.get(peer)))
                        .toList();
    }

    /** Sends a frame to a peer, or does nothing if the peer is lost. Any thread may call this method. */
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

    @Override
    public void received(int peer, ControlFrame frame) {
        switch (frame.type()) {
            case MESSAGE -> {
                ByteBuffer message = ByteBuffer.wrap(frame.body()).asReadOnlyBuffer();
                if (!inboxes.deliver(frame.group(), peer, new InboxRouter.ControlDelivery(message))) {
                    send(peer, ControlFrame.closed(frame.group()));
                }
            }
            case OPEN_DATA, NO_DATA, NOT_ACCEPTED -> data.received(ChannelKey.of(peer, frame), frame);
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
            case CLOSED ->
                inboxes.deliver(frame.group(), peer, (to, rank) -> to.events().closed(rank, closedBy(peer)));
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
            long deadline = port.now() + DisconnectedPeers.ANSWER_NANOS;
            TcpDialer.DialledPeer call = call(peer, Hello.ConnectionKind.ALIVE, Hello.ChannelIdentity.NONE, deadline);
            mayLive.ask(
                    DisconnectedPeers.connectedAt(
                            connections.get(peer).channel().remoteAddress(), call),
                    gone,
                    this::died);
        }
        gone(peer, gone);
    }

    /** Returns the failure for an exception on this rank that the peer has not caused. */
    FerroException ownFailure(int peer, Throwable cause) {
        boolean memory = cause instanceof OutOfMemoryError;
        String text = "rank " + spec.rank() + " of \"" + spec.name() + "\" "
                + (memory ? "ran out of memory for" : "failed with an exception on")
                + " its control connection to rank " + peer + ": " + (memory ? cause.getMessage() : cause);
        return new FerroException(memory ? Code.RESOURCE : Code.ABORTED, where.blaming(spec.rank()), text, cause);
    }

    FerroException failure(int peer, Code code, String what, Throwable cause) {
        String text = "rank " + peer + " of \"" + spec.name() + "\" at " + remote(peer) + " " + what + " (seen by rank "
                + spec.rank() + ")";
        return new FerroException(code, where.blaming(peer), text, cause);
    }

    private FerroException closedBy(int peer) {
        return failure(peer, Code.PEER_LOST, "closed the group", null);
    }

    private String remote(int peer) {
        PeerRecord[] all = known;
        return all != null ? AddressLookup.text(all[peer].addresses()) : "" + slots[peer].remoteAddress();
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

    private void report(InboxRouter.GroupReceiver to, int rank, int peer) {
        if (ends.hasClosed(peer)) {
            to.events().closed(rank, lost[peer]);
        } else if (mayLive.contains(peer)) {
            to.events().cutOff(rank, lost[peer]);
        } else {
            to.events().lost(rank, lost[peer]);
        }
    }

    private void report(int peer) {
        inboxes.tellAll(peer, (to, rank) -> report(to, rank, peer));
    }

    private void died(int peer) {
        if (ends.isReported(peer)) {
            report(peer);
        }
    }

    void hear(long group, InboxRouter.GroupReceiver receiver) {
        inboxes.register(group, receiver);
        for (int peer : RankArrays.others(spec)) {
            if (ends.isReported(peer)) {
                receiver.hear(peer, (to, rank) -> report(to, rank, peer));
            }
        }
    }

    void openData(ChannelKey key, int epoch) {
        if (!closed) {
            data.open(key, epoch);
        }
    }

    /**
     * Closes all connections; on the loop only. First sends goodbye if {@code inOrder} is true. The future completes
     * after the close.
     */
    private CompletableFuture<Void> closed(boolean inOrder) {
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
