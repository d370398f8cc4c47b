package ferro.backend.tcp;

import ferro.FerroException;
import ferro.InvalidRankException;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.SharedMemoryProvider;
import io.netty.channel.Channel;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The other ranks of one joined group: one authenticated control connection each, data connections on demand. Any thread
 * may call it; what happens, happens on the background loop.
 */
final class TcpMesh implements AutoCloseable {
    private static final long FLUSH_MILLIS = 1_000;

    private final GroupSpec spec;
    private final RankContext context;
    private final TcpIo io;
    /** Null in a world of one, which needs no sockets; so are the next two. */
    private final TcpPort port;

    private final Peers peers;
    private final Runnable left;
    private volatile NearMemory nearMemory = NearMemory.none();
    private volatile String tuned = "";
    private volatile List<String> hosts = List.of();
    /** By rank, what people call its machine; empty in a world of one. */
    private volatile List<String> machines = List.of();

    private final AtomicInteger users = new AtomicInteger(1);

    /**
     * Makes a mesh.
     *
     * @param spec    who
     * @param context settings, and what gives the port back
     * @param port    used once for this mesh; null in a world of one
     * @param peers   connected; null in a world of one
     * @param left    called at the last close, before the port is given back
     */
    TcpMesh(GroupSpec spec, RankContext context, TcpPort port, Peers peers, Runnable left) {
        this.spec = spec;
        this.context = context;
        this.port = port;
        this.peers = peers;
        this.left = left;
        io = port == null ? TcpIo.of(context) : port.io();
    }

    /**
     * Does the whole rendezvous: bind, store, announce, wait, connect; returns when every control connection is up.
     *
     * @throws FerroException RENDEZVOUS, PROTOCOL, UNAUTHENTICATED or INTERRUPTED, by the one deadline of the spec
     */
    static TcpMesh join(GroupSpec group, RankContext context) {
        return group.worldSize() == 1
                ? new TcpMesh(group, context, null, null, () -> {})
                : new TcpJoin(group, context).join();
    }

    /**
     * Says by what the ranks share memory, what table of algorithms rank 0 has, and which address or name each rank has told the
     * others; once, while joining.
     */
    void share(NearMemory agreed, String ofRankZero, List<String> told) {
        nearMemory = agreed;
        tuned = ofRankZero;
        hosts = told;
    }

    /** Returns what some ranks have told the others as their address, in that order; nothing in a world of one. */
    List<String> hosts(int[] ranks) {
        return hosts.isEmpty()
                ? hosts
                : Arrays.stream(ranks).mapToObj(hosts::get).toList();
    }

    /** Says on which machine each rank is, by rank; once, while joining. */
    void place(List<String> machineByRank) {
        machines = List.copyOf(machineByRank);
    }

    /** Returns on which machine a rank is; empty if that is unknown. */
    String machine(int peer) {
        List<String> known = machines;
        return known.isEmpty() ? "" : known.get(peer);
    }

    /** Returns rank 0's table of algorithms, the same text on all ranks. */
    String tuned() {
        return tuned;
    }

    /** Returns by what some ranks share memory; the same answer on all of them. */
    Optional<SharedMemoryProvider> sharedMemory(int[] ranks) {
        return nearMemory.among(ranks);
    }

    /** Returns why some ranks share none; empty if they do. */
    String noSharedMemoryBecause(int[] ranks) {
        return nearMemory.lackingAmong(ranks);
    }

    /** Returns whether ranks on different hosts are far from each other; the same on all. */
    boolean isFar() {
        return RoundTrips.areFar(distanceMicros());
    }

    /** Returns the middle round trip between rank 0 and ranks of other hosts; 0 if it is not known. */
    int distanceMicros() {
        return peers == null ? 0 : peers.distanceMicros();
    }

    int rank() {
        return spec.rank();
    }

    int worldSize() {
        return spec.worldSize();
    }

    GroupSpec spec() {
        return spec;
    }

    TcpIo io() {
        return io;
    }

    /** Sends a control message of at most 4 KiB; copies, never waits, never behind data. */
    void control(int peer, long group, ByteBuffer message) {
        check(peer);
        peers.send(peer, ControlFrame.message(group, message));
    }

    /** Names who hears of a group; what came for it earlier is delivered first, on the background loop. */
    void register(long group, Listener listener) {
        onLoop(() -> peers.register(group, listener));
    }

    /** Ends what {@link #register} began; a call of the listener that is under way goes on. */
    void unregister(long group) {
        onLoop(() -> peers.unregister(group));
    }

    /**
     * Asks for the data connection of a pair; either side may ask, any number of times; the listeners of both sides get
     * it once per epoch.
     */
    void openData(int peer, long group, DataLane lane, int epoch) {
        check(peer);
        onLoop(() -> peers.openData(new DataKey(peer, group, lane), epoch));
    }

    /** Ends a data connection in good order: it has no driver any more. */
    void drain(Channel channel) {
        if (port == null || !port.loop().run(() -> peers.drain(channel))) {
            channel.unsafe().closeForcibly();
        }
    }

    /** Returns whether this process serves the store by which the ranks meet. */
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

    /** Counts one more user. */
    void retain() {
        if (users.getAndUpdate(count -> count <= 0 ? count : count + 1) <= 0) {
            throw new IllegalStateException(
                    "rank " + spec.rank() + " of \"" + spec.name() + "\" is closed: 0 users are left");
        }
    }

    /** Counts one user less; the last ends the control connections in order and gives the port back. */
    @Override
    public void close() {
        if (users.getAndUpdate(count -> Math.max(0, count - 1)) == 1 && port != null) {
            leave(true);
        }
    }

    /** Drops everything without a goodbye, as the end of the process would; for tests and failed joins. */
    void drop() {
        if (users.getAndSet(0) > 0 && port != null) {
            leave(false);
        }
    }

    private void leave(boolean inOrder) {
        left.run();
        CompletableFuture<Void> over = new CompletableFuture<>();
        port.loop().run(() -> peers.close(inOrder).whenComplete((done, failure) -> over.complete(null)));
        if (!port.loop().inLoop()) {
            awaitFlush(over);
        }
        context.release(TcpPort.class);
    }

    /** Bounded: a peer that reads nothing cannot hold this rank up. */
    private static void awaitFlush(CompletableFuture<Void> over) {
        over.completeOnTimeout(null, FLUSH_MILLIS, TimeUnit.MILLISECONDS).join();
    }

    /** Who hears of one group; called on the background loop, nothing may block. Peers are ranks of the joined group. */
    interface Listener {
        /** A control message came; valid during the call. */
        void control(int peer, ByteBuffer message);

        /** The control connection of a peer has ended; told once per peer and group. */
        void lost(int peer, FerroException cause);

        /**
         * A data connection is there: authenticated, auto-read off, without handlers, deregistered from the background
         * loop, no byte of data read; its allocator is a {@link SwitchedReads}. The listener owns it.
         */
        void data(int peer, DataLane lane, int epoch, Channel channel);

        /** A data connection cannot be made. */
        void noData(int peer, DataLane lane, FerroException cause);
    }
}
