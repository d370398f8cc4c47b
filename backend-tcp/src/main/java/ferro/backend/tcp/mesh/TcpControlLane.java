package ferro.backend.tcp.mesh;

import ferro.FerroException;
import ferro.RankEnd;
import ferro.backend.tcp.net.SwitchableReadAllocator;
import ferro.backend.tcp.net.TlsHandshakeHandler;
import ferro.spi.ControlLane;
import io.netty.channel.Channel;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * The control messages of one group, over the control connections of a mesh. All groups of a rank share the control
 * connections. A transport calls {@link #listen} to add data links. A group without data links calls {@link #events}.
 */
public final class TcpControlLane implements ControlLane {
    private final TcpMesh mesh;
    private final long group;
    /** The mesh rank of each rank of this group. */
    private final int[] members;
    /** For each rank of the mesh, its rank in this group; -1 for a rank that is not in this group. */
    private final int[] rankOf;

    private final AtomicBoolean closed = new AtomicBoolean();

    /** Receives the data connections of a group, on the background loop of the mesh; must not block. */
    public interface ArrivalReceiver {
        /**
         * Receives a data connection, which the receiver then owns. The connection is authenticated. Its channel has
         * auto-read off, has no handlers, and is registered with no loop. No byte of data was read yet. The allocator
         * of the channel is a {@link SwitchableReadAllocator}. The default method, for a group without data links,
         * closes the connection. Only a peer with other settings opens a data link to such a group.
         */
        default void data(int peer, ConnectionPurpose lane, int epoch, Channel channel) {
            TlsHandshakeHandler.closeAtOnce(channel);
        }

        /** Receives the reason why a data connection cannot be made. */
        default void noData(int peer, ConnectionPurpose lane, FerroException cause) {}
    }

    /**
     * Creates the lane of one group. The lane uses the mesh until {@link #close}.
     *
     * @param mesh    mesh, which this lane uses until it is closed
     * @param group   identity of the group, 64 bits
     * @param members ranks of the mesh that are in the group, including this rank
     */
    public TcpControlLane(TcpMesh mesh, long group, int[] members) {
        this.mesh = mesh;
        this.group = group;
        this.members = members.clone();
        rankOf = new int[mesh.worldSize()];
        Arrays.fill(rankOf, -1);
        for (int i = 0; i < members.length; i++) {
            rankOf[members[i]] = i;
        }
    }

    @Override
    public int rank() {
        return rankOf[mesh.rank()];
    }

    @Override
    public int worldSize() {
        return members.length;
    }

    /** Returns the mesh rank of each rank of this group. */
    public int[] members() {
        return members.clone();
    }

    /** Returns the number that a rank of this group has in the mesh. */
    public int inMesh(int peer) {
        return members[peer];
    }

    @Override
    public TcpControlLane subgroup(int[] ranks, long identity) {
        int[] chosen = RankArrays.chosen(members, ranks);
        mesh.retain();
        return new TcpControlLane(mesh, identity, chosen);
    }

    @Override
    public void control(int peer, ByteBuffer message) {
        mesh.control(members[peer], group, message);
    }

    @Override
    public boolean afterControl(int peer, Runnable task) {
        return mesh.afterControl(members[peer], task);
    }

    @Override
    public void events(PeerEvents receiver) {
        listen(receiver, new ArrivalReceiver() {});
    }

    /** Sets the receiver of the group's events, like {@link #events}, and the receiver of its data connections. */
    public void listen(PeerEvents receiver, ArrivalReceiver data) {
        mesh.register(group, new InboxRouter.GroupReceiver(rankOf, receiver, data));
    }

    @Override
    public boolean servesOthers() {
        return mesh.servesStore();
    }

    @Override
    public String machine(int peer) {
        return mesh.machine(members[peer]);
    }

    @Override
    public void whenEnded(int peer, Consumer<RankEnd> receiver) {
        mesh.whenEnded(members[peer], receiver);
    }

    @Override
    public void close() {
        close(TcpMesh.MAX_FLUSH);
    }

    @Override
    public void close(Duration within) {
        if (closed.compareAndSet(false, true)) {
            mesh.unregister(group);
            mesh.close(within);
        }
    }
}
