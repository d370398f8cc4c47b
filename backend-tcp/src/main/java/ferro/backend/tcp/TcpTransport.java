package ferro.backend.tcp;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.Medium;
import ferro.RankEnd;
import ferro.backend.tcp.link.CheckedDataSocket;
import ferro.backend.tcp.link.DataSocket;
import ferro.backend.tcp.link.LinkListener;
import ferro.backend.tcp.link.PolledLinks;
import ferro.backend.tcp.link.TcpLink;
import ferro.backend.tcp.link.TlsDataSocket;
import ferro.backend.tcp.link.WakeConnections;
import ferro.backend.tcp.mesh.ConnectionPurpose;
import ferro.backend.tcp.mesh.TcpControlLane;
import ferro.backend.tcp.mesh.TcpMesh;
import ferro.backend.tcp.net.AddressLookup;
import ferro.backend.tcp.net.TlsHandshakeHandler;
import ferro.backend.tcp.net.TlsSession;
import ferro.spi.CallHeader;
import ferro.spi.Link;
import ferro.spi.SharedMemoryProvider;
import ferro.spi.Transport;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * The data links of one group. The thread that calls {@link #poll} makes progress on the links. All groups of a rank
 * share the control connections of the mesh.
 *
 * <p>Data connections arrive on the background loop of the mesh. New connections are queued until the next
 * {@link #poll}.
 */
final class TcpTransport implements Transport {
    /** The epoch of the first connection of a link. A connection that replaces a lost connection has a higher epoch. */
    private static final int FIRST_EPOCH = 0;

    private final TcpMesh mesh;
    private final TcpControlLane control;
    private final long group;
    private final LongSupplier clock;
    private final int rank;
    private final TcpLink[][] links;
    private final WakeConnections doorbells;
    private final Queue<ArrivedConnection> arrivals = new ConcurrentLinkedQueue<>();
    private volatile PolledLinks driven;
    private volatile Events events;
    /** Whether {@link #wakeup} was called before {@link #driven} existed. */
    private volatile boolean wokenEarly;

    private volatile boolean abandoned;
    private volatile boolean closed;

    /**
     * Creates the transport of one group.
     *
     * @param mesh  mesh; {@link #close} releases it
     * @param group identity of the group, 64 bits
     * @param members ranks of the mesh that are in the group, including this rank
     * @param clock clock of the context, in nanoseconds
     */
    TcpTransport(TcpMesh mesh, long group, int[] members, LongSupplier clock) {
        this(mesh, group, new TcpControlLane(mesh, group, members), clock);
    }

    private TcpTransport(TcpMesh mesh, long group, TcpControlLane control, LongSupplier clock) {
        this.mesh = mesh;
        this.group = group;
        this.control = control;
        this.clock = clock;
        rank = control.rank();
        links = new TcpLink[ConnectionPurpose.values().length][control.worldSize()];
        doorbells = new WakeConnections(control.worldSize());
    }

    @Override
    public int rank() {
        return rank;
    }

    @Override
    public int worldSize() {
        return control.worldSize();
    }

    @Override
    public Link link(int peer, Lane lane) {
        ConnectionPurpose on = ConnectionPurpose.of(lane);
        TcpLink known = links[on.ordinal()][peer];
        if (known != null) {
            return known;
        }
        if (peer == rank) {
            throw new IllegalArgumentException("rank " + rank + " of " + name() + " has no link to itself");
        }
        TcpLink made = newLink(peer, on);
        if (!abandoned) {
            mesh.openData(control.inMesh(peer), group, on, FIRST_EPOCH);
        }
        return made;
    }

    /** Returns whether a peer's connection has arrived. A peer opens or requests a connection before its first send. */
    @Override
    public boolean isOpenedBy(int peer, Lane lane) {
        return links[ConnectionPurpose.of(lane).ordinal()][peer] != null;
    }

    @Override
    public Transport subgroup(int[] ranks, long identity) {
        return new TcpTransport(mesh, identity, control.subgroup(ranks, identity), clock);
    }

    @Override
    public boolean poll() {
        boolean connected = !arrivals.isEmpty() && takeArrivals();
        PolledLinks now = driven;
        return now != null && now.poll() | connected;
    }

    @Override
    public void park(long deadlineNanos) {
        if (!arrivals.isEmpty()) {
            return; // the next poll takes the arrived connections over
        }
        long nanos = deadlineNanos - clock.getAsLong();
        if (nanos <= 0 || closed) {
            return;
        }
        PolledLinks now = polledLinks();
        if (wokenEarly) {
            wokenEarly = false;
            return;
        }
        doorbells.want();
        now.block(nanos);
        doorbells.silence();
    }

    @Override
    public void wakeup() {
        PolledLinks now = driven;
        if (now == null) {
            wokenEarly = true;
            // the thread that parks creates the loop before it reads wokenEarly
            now = driven;
        }
        if (now != null) {
            now.wakeup();
        }
    }

    @Override
    public boolean signal(int peer) {
        if (abandoned) {
            return false;
        }
        if (doorbells.asksFor(peer)) {
            mesh.openData(control.inMesh(peer), group, ConnectionPurpose.BELL, FIRST_EPOCH);
        }
        return doorbells.signal(peer);
    }

    @Override
    public void control(int peer, ByteBuffer message) {
        control.control(peer, message);
    }

    @Override
    public boolean afterControl(int peer, Runnable task) {
        return control.afterControl(peer, task);
    }

    @Override
    public void events(Events receiver) {
        events = receiver;
        control.listen(receiver, new ArrivalQueue());
    }

    @Override
    public void abandon() {
        abandoned = true;
        for (TcpLink link : openedLinks()) {
            link.close();
        }
        doorbells.close();
        closeArrivals();
    }

    private List<TcpLink> openedLinks() {
        List<TcpLink> opened = new ArrayList<>();
        for (TcpLink[] ofLane : links) {
            for (TcpLink link : ofLane) {
                if (link != null) {
                    opened.add(link);
                }
            }
        }
        return opened;
    }

    @Override
    public boolean mayLose(int peer, Lane lane) {
        TcpLink link = links[ConnectionPurpose.of(lane).ordinal()][peer];
        return link != null && link.isConnected();
    }

    @Override
    public boolean servesOthers() {
        return control.servesOthers();
    }

    @Override
    public boolean leave() {
        if (!abandoned) {
            abandoned = true;
            for (TcpLink link : openedLinks()) {
                Channel open = link.leave();
                if (open != null) {
                    mesh.drain(open);
                }
            }
            doorbells.close();
            closeArrivals();
            closePolledLinks();
        }
        return true;
    }

    @Override
    public String machine(int peer) {
        return control.machine(peer);
    }

    @Override
    public void whenEnded(int peer, Consumer<RankEnd> receiver) {
        control.whenEnded(peer, receiver);
    }

    @Override
    public Optional<SharedMemoryProvider> sharedMemory() {
        return mesh.sharedMemory(control.members());
    }

    @Override
    public String noSharedMemoryBecause() {
        return mesh.noSharedMemoryBecause(control.members());
    }

    @Override
    public Medium medium() {
        List<String> hosts = mesh.hosts(control.members());
        if (worldSize() == 1 || hosts.isEmpty()) {
            return Medium.UNKNOWN;
        }
        // uses the advertised names, not their addresses on this host, because all ranks must return the same medium
        String tcp = AddressLookup.areLoopback(hosts) ? "TCP (loopback)" : "TCP";
        String text = tcp + (mesh.encrypts(control.members()) ? " with TLS" : "");
        // a group on one host has short round trips, even if other ranks of the job are far away
        return new Medium(text, hosts, new Medium(text, hosts).hasSeveralAddresses() && mesh.isFar());
    }

    @Override
    public void close() {
        close(TcpMesh.MAX_FLUSH);
    }

    @Override
    public void close(Duration within) {
        if (closed) {
            return;
        }
        closed = true;
        abandon();
        closePolledLinks();
        control.close(within);
    }

    private void closePolledLinks() {
        PolledLinks last = driven;
        driven = null;
        if (last != null) {
            last.close();
        }
    }

    @Override
    public String toString() {
        return "TcpTransport[rank " + rank + " of " + worldSize() + ", " + name() + "]";
    }

    /** Returns how many doorbell signals this rank has received; for tests. */
    long rung() {
        return doorbells.heard();
    }

    private PolledLinks polledLinks() {
        PolledLinks now = driven;
        if (closed) {
            throw new IllegalStateException("the transport of rank " + rank + " in " + name() + " is closed");
        }
        if (now == null) {
            now = opened();
            driven = now;
        }
        return now;
    }

    private PolledLinks opened() {
        try {
            return PolledLinks.open(mesh.io(), worldSize());
        } catch (IllegalStateException | UncheckedIOException | ChannelException unable) {
            throw failures(rank, ConnectionPurpose.COLLECTIVE).notWatched(unable);
        }
    }

    private TcpLink newLink(int peer, ConnectionPurpose lane) {
        TcpLink made = new TcpLink(polledLinks(), new LinkEventHandler(peer, lane));
        links[lane.ordinal()][peer] = made;
        if (abandoned) {
            made.close();
        }
        return made;
    }

    /** Passes the connections that have arrived to their links. Returns whether any connection had arrived. */
    private boolean takeArrivals() {
        boolean any = false;
        for (ArrivedConnection arrival = arrivals.poll(); arrival != null; arrival = arrivals.poll()) {
            any = true;
            try {
                take(arrival);
            } catch (RuntimeException | Error failure) {
                // after an error, such as out of memory, no link owns this connection
                drop(arrival);
                throw failure;
            }
        }
        return any;
    }

    private void take(ArrivedConnection arrival) {
        if (arrival.lane() == ConnectionPurpose.BELL) {
            registerDoorbell(arrival);
            return;
        }
        TcpLink known = links[arrival.lane().ordinal()][arrival.peer()];
        connect(known != null ? known : newLink(arrival.peer(), arrival.lane()), arrival);
    }

    private static void drop(ArrivedConnection arrival) {
        if (arrival.channel() != null) {
            TlsHandshakeHandler.closeAtOnce(arrival.channel());
        }
    }

    /**
     * Registers the doorbell connection to a peer. A missing doorbell causes no failure, because control messages also
     * wake the peer.
     */
    private void registerDoorbell(ArrivedConnection arrival) {
        if (arrival.channel() == null) {
            return;
        }
        try {
            doorbells.register(arrival.peer(), polledLinks().adopt(arrival.channel()));
        } catch (IOException unable) {
            drop(arrival);
        }
    }

    private void connect(TcpLink link, ArrivedConnection arrival) {
        if (arrival.channel() == null) {
            link.fail(arrival.failure());
            return;
        }
        try {
            DataSocket wire = polledLinks().adopt(arrival.channel());
            link.connect(protectedBytes(wire, arrival.channel()), arrival.epoch());
        } catch (IOException unable) {
            drop(arrival);
            link.fail(failures(arrival.peer(), arrival.lane()).notPolled(unable));
        }
    }

    /** Returns the connection with the agreed protection: TLS, checksums, or none. TLS needs no checksums. */
    private DataSocket protectedBytes(DataSocket wire, Channel channel) {
        TlsSession session = TlsHandshakeHandler.sessionOf(channel);
        if (session != null) {
            return new TlsDataSocket(
                    wire, session, polledLinks().records(), mesh.io().keyBytes());
        }
        return mesh.io().checksum() ? new CheckedDataSocket(wire) : wire;
    }

    /** Closes the connections that have arrived but belong to no link yet; any thread may call. */
    private void closeArrivals() {
        for (ArrivedConnection arrival = arrivals.poll(); arrival != null; arrival = arrivals.poll()) {
            drop(arrival);
        }
    }

    private void arrived(ArrivedConnection arrival) {
        arrivals.add(arrival);
        if (abandoned) {
            closeArrivals();
        } else {
            wakeup();
        }
    }

    private LinkFailureFactory failures(int peer, ConnectionPurpose lane) {
        return new LinkFailureFactory(mesh.spec().name(), name(), rank, peer, lane);
    }

    private String name() {
        return "\"" + mesh.spec().name() + "\"" + (group == 0 ? "" : " group " + Long.toHexString(group));
    }

    /**
     * A connection that has arrived, or the reason why no connection will arrive. Either {@code channel} or {@code
     * failure} is null.
     */
    private record ArrivedConnection(
            int peer, ConnectionPurpose lane, int epoch, Channel channel, FerroException failure) {}

    /** Queues the data connections that arrive on the background loop of the mesh. */
    private final class ArrivalQueue implements TcpControlLane.ArrivalReceiver {
        @Override
        public void data(int peer, ConnectionPurpose on, int epoch, Channel channel) {
            arrived(new ArrivedConnection(peer, on, epoch, channel, null));
        }

        @Override
        public void noData(int peer, ConnectionPurpose on, FerroException cause) {
            arrived(new ArrivedConnection(peer, on, FIRST_EPOCH, null, inGroup(peer, on, cause)));
        }

        private FerroException inGroup(int peer, ConnectionPurpose on, FerroException cause) {
            boolean own = cause.where().culprits().equals(Set.of(mesh.rank()));
            return cause.code() == Code.RESOURCE ? failures(peer, on).lacking(cause, own ? rank : peer) : cause;
        }
    }

    /** Adds the names of the group, the ranks and the lane to the failures of a link. */
    private final class LinkEventHandler implements LinkListener {
        private final int peer;
        private final ConnectionPurpose lane;
        private final LinkFailureFactory texts;

        LinkEventHandler(int peer, ConnectionPurpose lane) {
            this.peer = peer;
            this.lane = lane;
            texts = failures(peer, lane);
        }

        @Override
        public FerroException ended(long sequence, String progress, IOException cause) {
            return cause instanceof CheckedDataSocket.CorruptDataException
                    ? texts.corrupted(progress, cause)
                    : texts.ended(sequence, progress, cause);
        }

        @Override
        public boolean redial(int epoch) {
            if (!abandoned) {
                mesh.openData(control.inMesh(peer), group, lane, epoch);
            }
            return !abandoned;
        }

        @Override
        public void resumed(int epoch, FerroException ended) {
            System.getLogger("ferro.tcp").log(System.Logger.Level.DEBUG, () -> texts.resumed(epoch, ended));
        }

        @Override
        public FerroException redialFailed(FerroException ended, FerroException cause) {
            return LinkFailureFactory.redialFailed(ended, cause);
        }

        @Override
        public FerroException underWay(FerroException ended, long bytesThere, long bytesHere) {
            return texts.underWay(ended, bytesThere, bytesHere);
        }

        @Override
        public void broken(FerroException cause) {
            events.broken(peer, cause);
        }

        @Override
        public void mismatched(CallHeader expected, CallHeader found) {
            events.mismatched(peer, expected, found);
        }
    }
}
