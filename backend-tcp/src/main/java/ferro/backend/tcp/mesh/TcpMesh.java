package ferro.backend.tcp.mesh;

import ferro.FerroException;
import ferro.InvalidRankException;
import ferro.RankEnd;
import ferro.backend.tcp.connect.RoundTripTimes;
import ferro.backend.tcp.connect.SwitchedReads;
import ferro.backend.tcp.connect.TcpIo;
import ferro.backend.tcp.connect.TlsHandshake;
import ferro.backend.tcp.connect.Waits;
import ferro.backend.tcp.rendezvous.TcpPort;
import ferro.backend.tcp.store.EndedRanks;
import ferro.spi.Deadlines;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.SharedMemoryProvider;
import io.netty.channel.Channel;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * The other ranks of one joined group: one authenticated control connection each, data connections on demand. Any thread
 * may call it. The work is done on the background loop.
 */
public final class TcpMesh implements AutoCloseable {
    /** Maximum wait of the last close for the store and for the last frames, both together. */
    public static final Duration MAX_FLUSH = Duration.ofSeconds(1);

    private final GroupSpec spec;
    private final RankContext context;
    private final TcpIo io;
    /** Null in a world of one, which needs no sockets; the same is true of the next two. */
    private final TcpPort port;

    private final Peers peers;
    private final Consumer<Duration> left;
    private volatile IntraNodeMemory nearMemory = IntraNodeMemory.none();
    private volatile long joinDeadline;
    private volatile List<String> hosts = List.of();
    /** Name of the machine of each rank, for people; empty in a world of one. */
    private volatile List<String> machines = List.of();

    private volatile EndedRanks ends = EndedRanks.unknown();

    private final AtomicInteger users = new AtomicInteger(1);

    /**
     * Makes a mesh.
     *
     * @param spec    group and rank
     * @param context settings; also releases the port
     * @param port    port with one use for this mesh; null in a world of one
     * @param peers   connected peers; null in a world of one
     * @param left    called at the last close, before the port is released, with the time that it may take
     */
    TcpMesh(GroupSpec spec, RankContext context, TcpPort port, Peers peers, Consumer<Duration> left) {
        this.spec = spec;
        this.context = context;
        this.port = port;
        this.peers = peers;
        this.left = left;
        io = port == null ? TcpIo.of(context) : port.io();
    }

    /**
     * Joins the group: binds, opens the store, announces this rank, waits for the others and connects to them. Returns when
     * every control connection is up.
     *
     * @throws FerroException RENDEZVOUS, PROTOCOL, UNAUTHENTICATED or INTERRUPTED, by the deadline of the spec
     */
    public static TcpMesh join(GroupSpec group, RankContext context) {
        return group.worldSize() == 1
                ? new TcpMesh(group, context, null, null, within -> {})
                : new TcpJoin(group, context).join();
    }

    /** Sets the end of the join, on the clock of the context; called once, while joining. */
    void until(long deadlineNanos) {
        joinDeadline = deadlineNanos;
    }

    /** Returns what is left of the time limit of the join, at least 1 ns. */
    public Duration joinLeft() {
        return peers == null
                ? Deadlines.ofJoin(spec, context)
                : Duration.ofNanos(Math.max(1, joinDeadline - context.nanoTime()));
    }

    /** Sets how ranks share memory, and the address or name that each rank has told the others; once, while joining. */
    void share(IntraNodeMemory agreed, List<String> told) {
        nearMemory = agreed;
        hosts = told;
    }

    /** Returns the addresses that these ranks have told the others, in the same order; empty in a world of one. */
    public List<String> hosts(int[] ranks) {
        if (hosts.isEmpty()) {
            return hosts;
        }
        List<String> ofRanks = new ArrayList<>();
        for (int rank : ranks) {
            ofRanks.add(hosts.get(rank));
        }
        return List.copyOf(ofRanks);
    }

    /** Sets the machine of each rank, by rank; called once, while joining. */
    void place(List<String> machineByRank) {
        machines = List.copyOf(machineByRank);
    }

    /** Returns the machine of a rank; empty if it is unknown. */
    public String machine(int peer) {
        List<String> known = machines;
        return known.isEmpty() ? "" : known.get(peer);
    }

    /** Sets where launchers report how ranks ended; called once, while joining. */
    void ends(EndedRanks reported) {
        ends = reported;
    }

    /** Passes on how the process of a rank ended, when its launcher reports it. */
    public void whenEnded(int peer, Consumer<RankEnd> receiver) {
        ends.when(peer, receiver);
    }

    /** Returns the provider by which these ranks share memory; the same answer on all of them. */
    public Optional<SharedMemoryProvider> sharedMemory(int[] ranks) {
        return nearMemory.among(ranks);
    }

    /** Returns why these ranks share no memory; empty if they do. */
    public String noSharedMemoryBecause(int[] ranks) {
        return nearMemory.lackingAmong(ranks);
    }

    /** Returns whether ranks on different hosts are far from each other; the same answer on all ranks. */
    public boolean isFar() {
        return RoundTripTimes.areFar(distanceMicros());
    }

    /** Returns the median round trip time between rank 0 and ranks of other hosts; 0 if it is not known. */
    public int distanceMicros() {
        return peers == null ? 0 : peers.distanceMicros();
    }

    /** Returns this rank in the joined group. */
    public int rank() {
        return spec.rank();
    }

    /** Returns the number of ranks of the joined group. */
    public int worldSize() {
        return spec.worldSize();
    }

    /** Returns the joined group. */
    public GroupSpec spec() {
        return spec;
    }

    /** Returns how sockets are made. */
    public TcpIo io() {
        return io;
    }

    /** Sends a control message of at most 4 KiB; copies it, never waits, and is never queued behind data. */
    public void control(int peer, long group, ByteBuffer message) {
        check(peer);
        peers.send(peer, ControlFrame.message(group, message));
    }

    /**
     * Runs a task on the background loop once the listeners have all that has come from a peer before this call.
     *
     * @return false if the loop has ended, and the task is not run
     */
    public boolean afterControl(int peer, Runnable task) {
        check(peer);
        return port.loop().run(() -> peers.afterControl(peer, task));
    }

    /** Registers the listener of a group; its earlier events are delivered first, on the background loop. */
    public void register(long group, Listener listener) {
        onLoop(new Runnable() {
            @Override
            public void run() {
                peers.register(group, listener);
            }
        });
    }

    /** Removes the listener that {@link #register} has set; a running call of the listener goes on. */
    public void unregister(long group) {
        onLoop(() -> peers.unregister(group));
    }

    /**
     * Requests the data connection of a pair. Either side may request it any number of times. The listeners of both sides
     * receive it once per epoch.
     */
    public void openData(int peer, long group, DataLane lane, int epoch) {
        check(peer);
        onLoop(new DataChannels.DataOpening(peers, new DataKey(peer, group, lane), epoch));
    }

    /** Closes a data connection, which no thread polls any more, in good order. */
    public void drain(Channel channel) {
        if (port == null || !port.loop().run(() -> peers.drain(channel))) {
            TlsHandshake.closeAtOnce(channel);
        }
    }

    /**
     * Returns whether data is encrypted where it leaves a machine, or everywhere. All members answer alike: connections are
     * plain only between ranks of one machine.
     *
     * @param members ranks of a group
     */
    public boolean encrypts(int[] members) {
        if (peers == null) {
            return false;
        }
        for (int rank : members) {
            if (rank != spec.rank() && peers.encrypts(rank)) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether this process serves the rendezvous store. */
    public boolean servesStore() {
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

    /** Counts one more user. */
    public void retain() {
        if (users.getAndUpdate(count -> count <= 0 ? count : count + 1) <= 0) {
            throw new IllegalStateException("rank " + spec.rank() + " of \"" + spec.name()
                    + "\" has closed its connections: no group uses them any more");
        }
    }

    /** Counts one user less; the last user closes the control connections in good order and releases the port. */
    @Override
    public void close() {
        close(MAX_FLUSH);
    }

    /** Closes as {@link #close()} does; the last user waits no longer than a time for the store and for the last frames. */
    public void close(Duration within) {
        if (users.getAndUpdate(count -> Math.max(0, count - 1)) == 1 && port != null) {
            leave(true, within);
        }
    }

    /** Drops all connections without a goodbye, as the end of the process would; for tests and failed joins. */
    public void drop() {
        if (users.getAndSet(0) > 0 && port != null) {
            leave(false, MAX_FLUSH);
        }
    }

    private void leave(boolean inOrder, Duration within) {
        Duration flush = within.compareTo(MAX_FLUSH) < 0 ? within : MAX_FLUSH;
        long until = System.nanoTime() + Deadlines.nanos(flush);
        CompletableFuture<Void> over = new CompletableFuture<>();
        port.loop().run(() -> peers.close(inOrder).whenComplete((done, failure) -> over.complete(null)));
        left.accept(flush);
        if (!port.loop().inLoop()) {
            // for the last frames to leave: a peer that reads nothing cannot delay this rank longer
            Waits.uninterrupted(over, Math.max(0, until - System.nanoTime()));
        }
        context.release(TcpPort.class);
    }

    /** Receives the events of one group, on the background loop; must not block. Peers are ranks of the joined group. */
    public interface Listener {
        /** Receives a control message, which is valid during the call. */
        void control(int peer, ByteBuffer message);

        /**
         * Receives the end of a control connection whose peer may live. {@link #lost} follows if the peer does not answer at its
         * port.
         */
        void cutOff(int peer, FerroException cause);

        /**
         * Receives the end of a peer that has closed its connections in good order, or has closed this group and dropped a
         * message of this rank.
         */
        default void closed(int peer, FerroException cause) {
            lost(peer, cause);
        }

        /** Receives the end of the control connection of a peer; called once per peer and group. */
        void lost(int peer, FerroException cause);

        /**
         * Receives a data connection, which the listener then owns. It is authenticated, has auto-read off and no handlers,
         * is deregistered from the background loop, and no byte of data was read. Its allocator is a {@link SwitchedReads}.
         */
        void data(int peer, DataLane lane, int epoch, Channel channel);

        /** Receives the reason why a data connection cannot be made. */
        void noData(int peer, DataLane lane, FerroException cause);
    }
}
