package ferro.backend.tcp;

import ferro.FerroException;
import ferro.Medium;
import ferro.spi.CallHeader;
import ferro.spi.Link;
import ferro.spi.SharedMemoryProvider;
import ferro.spi.Transport;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.LongSupplier;

/**
 * The data links of one group, driven by whoever calls, over the control connections that all groups of a rank share.
 *
 * <p>Data connections come from the mesh, on its background loop; they wait in a queue until the driver takes them over at
 * its next {@link #poll}.
 */
final class TcpTransport implements Transport {
    /** Longest wait in the kernel, so that an interrupt is noticed: epoll ignores those. */
    private static final long SLICE_NANOS = 10_000_000;

    /** Connections in the place of those that ended have higher ones. */
    private static final int FIRST_EPOCH = 0;

    private final TcpMesh mesh;
    private final long group;
    private final LongSupplier clock;
    /** Ranks of the mesh, in the order of this group. */
    private final int[] members;
    /** The other way round; -1 for those that are not in this group. */
    private final int[] rankOf;

    private final int rank;
    private final TcpLink[][] links;
    private final Bells bells;
    private final Queue<Arrival> arrivals = new ConcurrentLinkedQueue<>();
    private volatile DrivenLinks driven;
    private volatile Events events;
    private volatile boolean abandoned;
    private volatile boolean closed;

    /**
     * Makes the transport of one group.
     *
     * @param mesh  given back by {@link #close}
     * @param group 64 bits of the group's identity
     * @param members ranks of the mesh, this one among them
     * @param clock the context's
     */
    TcpTransport(TcpMesh mesh, long group, int[] members, LongSupplier clock) {
        this.mesh = mesh;
        this.group = group;
        this.members = members.clone();
        this.clock = clock;
        rankOf = new int[mesh.worldSize()];
        Arrays.fill(rankOf, -1);
        for (int i = 0; i < members.length; i++) {
            rankOf[members[i]] = i;
        }
        rank = rankOf[mesh.rank()];
        links = new TcpLink[DataLane.values().length][members.length];
        bells = new Bells(members.length);
    }

    @Override
    public int rank() {
        return rank;
    }

    @Override
    public int worldSize() {
        return members.length;
    }

    @Override
    public Link link(int peer, Lane lane) {
        DataLane on = DataLane.of(lane);
        TcpLink known = links[on.ordinal()][peer];
        if (known != null) {
            return known;
        }
        if (peer == rank) {
            throw new IllegalArgumentException("rank " + rank + " of " + name() + " has no link to itself");
        }
        TcpLink made = newLink(peer, on);
        if (!abandoned) {
            mesh.openData(members[peer], group, on, FIRST_EPOCH);
        }
        return made;
    }

    @Override
    public Transport subgroup(int[] ranks, long identity) {
        int[] inMesh = new int[ranks.length];
        for (int i = 0; i < ranks.length; i++) {
            inMesh[i] = members[ranks[i]];
        }
        mesh.retain();
        return new TcpTransport(mesh, identity, inMesh, clock);
    }

    @Override
    public boolean poll() {
        boolean connected = !arrivals.isEmpty() && takeArrivals();
        DrivenLinks now = driven;
        return now != null && now.poll() | connected;
    }

    @Override
    public void park(long deadlineNanos) {
        if (!arrivals.isEmpty()) {
            return; // the next poll takes them, and tells that something has moved
        }
        long nanos = Math.min(SLICE_NANOS, deadlineNanos - clock.getAsLong());
        if (nanos > 0 && !closed) {
            bells.want();
            driven().block(nanos);
            bells.silence();
        }
    }

    @Override
    public void wakeup() {
        DrivenLinks now = driven;
        if (now != null) {
            now.wakeup();
        }
    }

    @Override
    public boolean ring(int peer) {
        if (abandoned) {
            return false;
        }
        if (bells.asksFor(peer)) {
            mesh.openData(members[peer], group, DataLane.BELL, FIRST_EPOCH);
        }
        return bells.ring(peer);
    }

    @Override
    public void control(int peer, ByteBuffer message) {
        mesh.control(members[peer], group, message);
    }

    @Override
    public void events(Events receiver) {
        events = receiver;
        mesh.register(group, new FromMesh());
    }

    @Override
    public void abandon() {
        abandoned = true;
        for (TcpLink[] lane : links) {
            for (TcpLink link : lane) {
                if (link != null) {
                    link.close();
                }
            }
        }
        bells.close();
        closeArrivals();
    }

    @Override
    public boolean mayLose(int peer, Lane lane) {
        TcpLink link = links[DataLane.of(lane).ordinal()][peer];
        return link != null && link.isConnected();
    }

    @Override
    public boolean servesOthers() {
        return mesh.servesStore();
    }

    @Override
    public boolean leave() {
        if (!abandoned) {
            abandoned = true;
            for (TcpLink[] lane : links) {
                for (TcpLink link : lane) {
                    Channel ending = link == null ? null : link.leave();
                    if (ending != null) {
                        mesh.drain(ending);
                    }
                }
            }
            bells.close();
            closeArrivals();
            closeDriven();
        }
        return true;
    }

    @Override
    public String machine(int peer) {
        return mesh.machine(members[peer]);
    }

    @Override
    public Optional<SharedMemoryProvider> sharedMemory() {
        return mesh.sharedMemory(members);
    }

    @Override
    public String noSharedMemoryBecause() {
        return mesh.noSharedMemoryBecause(members);
    }

    @Override
    public Medium medium() {
        List<String> hosts = mesh.hosts(members);
        if (members.length == 1 || hosts.isEmpty()) {
            return Medium.UNKNOWN;
        }
        // by what was told, not by what it resolves to here: all ranks must say the same
        String text = hosts.stream().allMatch(Addresses::isLoopback) ? "TCP (loopback)" : "TCP";
        Medium near = new Medium(text, hosts);
        // ranks of one host are near, wherever the rest of the job is
        return near.hasSeveralAddresses() && mesh.isFar() ? new Medium(text, hosts, true) : near;
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        abandon();
        mesh.unregister(group);
        closeDriven();
        mesh.close();
    }

    private void closeDriven() {
        DrivenLinks last = driven;
        driven = null;
        if (last != null) {
            last.close();
        }
    }

    @Override
    public String toString() {
        return "TcpTransport[rank " + rank + " of " + members.length + ", " + name() + "]";
    }

    /** Returns how often others have rung; for tests. */
    long rung() {
        return bells.heard();
    }

    private DrivenLinks driven() {
        DrivenLinks now = driven;
        if (closed) {
            throw new IllegalStateException("the transport of rank " + rank + " in " + name() + " is closed");
        }
        if (now == null) {
            now = opened();
            driven = now;
        }
        return now;
    }

    private DrivenLinks opened() {
        try {
            return DrivenLinks.open(mesh.io());
        } catch (IllegalStateException | UncheckedIOException | ChannelException unable) {
            String text = "rank " + rank + " of " + name() + " cannot watch data connections: " + unable.getMessage();
            throw failure(FerroException.Code.RESOURCE, rank, text, unable);
        }
    }

    private TcpLink newLink(int peer, DataLane lane) {
        TcpLink made = new TcpLink(driven(), new FromLink(peer, lane));
        links[lane.ordinal()][peer] = made;
        if (abandoned) {
            made.close();
        }
        return made;
    }

    /** Gives the connections that have come to their links; returns whether there were any. */
    private boolean takeArrivals() {
        boolean any = false;
        for (Arrival arrival = arrivals.poll(); arrival != null; arrival = arrivals.poll()) {
            any = true;
            if (arrival.lane() == DataLane.BELL) {
                hang(arrival);
                continue;
            }
            TcpLink known = links[arrival.lane().ordinal()][arrival.peer()];
            connect(known != null ? known : newLink(arrival.peer(), arrival.lane()), arrival);
        }
        return any;
    }

    /** Without a bell control messages wake, so that a bell that cannot be had is no failure. */
    private void hang(Arrival arrival) {
        if (arrival.channel() == null) {
            return;
        }
        try {
            bells.hang(arrival.peer(), driven().adopt(arrival.channel()));
        } catch (IOException unable) {
            arrival.channel().unsafe().closeForcibly();
        }
    }

    private void connect(TcpLink link, Arrival arrival) {
        if (arrival.channel() == null) {
            link.fail(arrival.failure());
            return;
        }
        try {
            Wire wire = driven().adopt(arrival.channel());
            link.connect(mesh.io().checksum() ? new CheckedWire(wire) : wire, arrival.epoch());
        } catch (IOException unable) {
            arrival.channel().unsafe().closeForcibly();
            link.fail(failure(
                    FerroException.Code.RESOURCE,
                    arrival.peer(),
                    "the " + words(arrival.lane()) + " connection of rank " + rank + " to rank " + arrival.peer()
                            + " of " + name() + " cannot be driven: " + unable.getMessage(),
                    unable));
        }
    }

    /** Any thread may call. */
    private void closeArrivals() {
        for (Arrival arrival = arrivals.poll(); arrival != null; arrival = arrivals.poll()) {
            if (arrival.channel() != null) {
                arrival.channel().unsafe().closeForcibly();
            }
        }
    }

    private void arrived(Arrival arrival) {
        arrivals.add(arrival);
        if (abandoned) {
            closeArrivals();
        } else {
            wakeup();
        }
    }

    private FerroException failure(FerroException.Code code, int peer, String message, Throwable cause) {
        return new FerroException(code, where(peer, -1), message, cause);
    }

    private FerroException.Where where(int peer, long sequence) {
        return new FerroException.Where(mesh.spec().name(), rank, Integer.toString(peer), "", sequence, -1, 0, 0, 0);
    }

    private static String words(DataLane lane) {
        return lane == DataLane.COLLECTIVE ? "collective" : "point-to-point";
    }

    private String name() {
        return "\"" + mesh.spec().name() + "\"" + (group == 0 ? "" : " group " + Long.toHexString(group));
    }

    /** A connection that has come, or why none will; one of the two is null. */
    private record Arrival(int peer, DataLane lane, int epoch, Channel channel, FerroException failure) {}

    /** Passes on what the mesh tells on its background loop, in ranks of this group. */
    private final class FromMesh implements TcpMesh.Listener {
        @Override
        public void control(int peer, ByteBuffer message) {
            if (rankOf[peer] >= 0) {
                events.control(rankOf[peer], message);
            }
        }

        @Override
        public void lost(int peer, FerroException cause) {
            if (rankOf[peer] >= 0) {
                events.lost(rankOf[peer], cause);
            }
        }

        @Override
        public void data(int peer, DataLane lane, int epoch, Channel channel) {
            if (rankOf[peer] < 0) {
                channel.unsafe().closeForcibly();
                return;
            }
            arrived(new Arrival(rankOf[peer], lane, epoch, channel, null));
        }

        @Override
        public void noData(int peer, DataLane lane, FerroException cause) {
            if (rankOf[peer] >= 0) {
                arrived(new Arrival(rankOf[peer], lane, FIRST_EPOCH, null, cause));
            }
        }
    }

    /** Puts names to what a link tells. */
    private final class FromLink implements LinkEvents {
        private final int peer;
        private final DataLane lane;

        FromLink(int peer, DataLane lane) {
            this.peer = peer;
            this.lane = lane;
        }

        @Override
        public FerroException ended(long sequence, String progress, IOException cause) {
            if (cause instanceof CheckedWire.Corrupted) {
                return corrupted(progress, cause);
            }
            String message = "rank " + rank + " of " + name() + " lost rank " + peer + ": their " + words(lane)
                    + " connection ended" + (cause == null ? "" : " (" + cause.getMessage() + ")") + ", " + progress
                    + "; the output of rank " + peer + " says why";
            FerroException.Where where = where(peer, lane == DataLane.COLLECTIVE ? sequence : -1);
            return new FerroException(FerroException.Code.PEER_LOST, where, message, cause);
        }

        private FerroException corrupted(String progress, IOException cause) {
            String message = "rank " + rank + " of " + name() + " refused what rank " + peer + " sent: on their "
                    + words(lane) + " connection " + cause.getMessage() + ", " + progress
                    + "; something between them, or in one of them, changes bytes: see memory, network cards and proxies";
            return failure(FerroException.Code.PROTOCOL, peer, message, cause);
        }

        @Override
        public boolean redial(int epoch) {
            if (!abandoned) {
                mesh.openData(members[peer], group, lane, epoch);
            }
            return !abandoned;
        }

        @Override
        public void resumed(int epoch) {
            System.getLogger("ferro.tcp")
                    .log(
                            System.Logger.Level.DEBUG,
                            "the {0} connection of rank {1} to rank {2} of {3} had ended while it was idle and is made anew"
                                    + " (epoch {4})",
                            words(lane),
                            rank,
                            peer,
                            name(),
                            epoch);
        }

        @Override
        public FerroException notAgain(FerroException ended, FerroException cause) {
            return with(ended, "; it cannot be made anew: " + cause.getMessage());
        }

        @Override
        public FerroException underWay(FerroException ended, long bytesThere, long bytesHere) {
            String there = bytesThere < 0 ? "" : bytesThere + " bytes to rank " + peer + " and ";
            return with(
                    ended,
                    "; " + there + bytesHere + " bytes from " + (bytesThere < 0 ? "rank " + peer : "it")
                            + " were under way, so it cannot go on over another");
        }

        private static FerroException with(FerroException ended, String more) {
            return new FerroException(ended.code(), ended.where(), ended.getMessage() + more, ended.getCause());
        }

        @Override
        public void broken(FerroException cause) {
            if (cause.code() == FerroException.Code.PROTOCOL) {
                // nothing on its way can explain it better
                events.lost(peer, cause);
            } else {
                events.broken(peer, cause);
            }
        }

        @Override
        public void mismatched(CallHeader expected, CallHeader found) {
            events.mismatched(peer, expected, found);
        }
    }
}
