package ferro.benchmarks;

import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A plain connection between ranks 0 and 1 of a group, for {@link WireProbe}. The connection uses the address by which
 * the group reaches rank 0, so that the probe takes the same route as data. The connection uses loopback if ranks 0 and
 * 1 have the same address, or if no address is known.
 *
 * @param connection this rank's end; null on ranks other than 0 and 1, and if the connection has failed
 * @param trouble    why the connection has failed, on rank 0 only
 */
record ProbeConnection(SocketChannel connection, Optional<String> trouble) {
    /** Time limit for the connection. Ranks 0 and 1 have just left a call of all ranks, so neither of them is late. */
    private static final int PATIENCE_MILLIS = 10_000;

    /** Length of the token that rank 1 sends first, because other processes may also connect to the port. */
    private static final int TOKEN_BYTES = Long.BYTES;

    private static final ProbeConnection NONE = new ProbeConnection(null, Optional.empty());

    /** Connects ranks 0 and 1. Every rank must call this method, and learns whether the connection exists. */
    static ProbeConnection between(ProcessGroup group) {
        if (group.worldSize() == 1) {
            return NONE;
        }
        SocketChannel end = null;
        String trouble = "rank 1 gives no reason";
        try {
            end = group.rank() == 0 ? accepted(group) : dialled(group);
        } catch (IOException failure) {
            trouble = failure.toString();
        }
        int[] missing = {group.rank() < 2 && end == null ? 1 : 0};
        group.allReduce(missing, ReduceOp.SUM);
        if (missing[0] == 0) {
            return new ProbeConnection(end, Optional.empty());
        }
        drop(end);
        String why = "ranks 0 and 1 cannot connect over the separate port of the probe, addresses "
                + group.medium().addresses() + " (" + trouble + "): a firewall may allow only ferro's port";
        return group.rank() == 0 ? new ProbeConnection(null, Optional.of(why)) : NONE;
    }

    /** Listens and waits for rank 1. Broadcasts port and token even after a failure, so that no other rank waits. */
    private static SocketChannel accepted(ProcessGroup group) throws IOException {
        long[] door = {0, new SecureRandom().nextLong()};
        boolean told = false;
        try (ServerSocketChannel server = listening(address(group))) {
            door[0] = server.socket().getLocalPort();
            told = true;
            group.broadcast(door, 0);
            return awaited(server, door[1]);
        } finally {
            if (!told) {
                group.broadcast(door, 0);
            }
        }
    }

    private static SocketChannel dialled(ProcessGroup group) throws IOException {
        long[] door = new long[2];
        group.broadcast(door, 0);
        if (group.rank() != 1 || door[0] == 0) {
            return null;
        }
        SocketChannel channel = SocketChannel.open();
        try {
            channel.socket().connect(new InetSocketAddress(address(group), (int) door[0]), PATIENCE_MILLIS);
            channel.write(ByteBuffer.allocate(TOKEN_BYTES).putLong(0, door[1]));
            return plain(channel);
        } catch (IOException failure) {
            drop(channel);
            throw failure;
        }
    }

    /** Returns the address of rank 0. */
    private static InetAddress address(ProcessGroup group) throws IOException {
        List<String> all = group.medium().addresses();
        boolean together = all.isEmpty() || all.get(0).equals(all.get(1));
        return together ? InetAddress.getLoopbackAddress() : InetAddress.getByName(all.get(0));
    }

    private static ServerSocketChannel listening(InetAddress address) throws IOException {
        ServerSocketChannel server = ServerSocketChannel.open();
        try {
            return server.bind(new InetSocketAddress(address, 0));
        } catch (BindException ofAnotherMachine) {
            // the published address may belong to a device in front of this machine
            return server.bind(new InetSocketAddress(0));
        }
    }

    /** Accepts the connection of rank 1, and closes connections of other processes. */
    private static SocketChannel awaited(ServerSocketChannel server, long token) throws IOException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS);
        while (true) {
            server.socket().setSoTimeout(millisUntil(deadline));
            SocketChannel channel = server.socket().accept().getChannel();
            if (shows(token, channel.socket(), deadline)) {
                return plain(channel);
            }
            drop(channel);
        }
    }

    private static boolean shows(long token, Socket socket, long deadline) {
        try {
            socket.setSoTimeout(millisUntil(deadline));
            return new DataInputStream(socket.getInputStream()).readLong() == token;
        } catch (IOException stranger) {
            return false;
        }
    }

    /** Returns the milliseconds until a deadline, but at least 1, because 0 would mean no time limit. */
    private static int millisUntil(long deadline) {
        return (int) Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime()));
    }

    /** Makes a connection non-blocking, so that a thread can poll it. */
    static SocketChannel plain(SocketChannel channel) throws IOException {
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.configureBlocking(false);
        return channel;
    }

    private static void drop(SocketChannel channel) {
        try {
            if (channel != null) {
                channel.close();
            }
        } catch (IOException unable) {
            System.getLogger("ferro.bench").log(System.Logger.Level.DEBUG, "a probe did not close", unable);
        }
    }
}
