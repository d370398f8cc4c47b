package ferro.backend.tcp.mesh;

import ferro.FerroException;
import ferro.backend.tcp.net.ConnectAttempts;
import ferro.backend.tcp.net.TcpDialer;
import ferro.backend.tcp.store.TcpPort;
import io.netty.channel.Channel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntConsumer;

/**
 * The peers that may be alive although their control connection has ended without a goodbye. A proxy or a firewall
 * between the ranks may have ended the connection. To decide whether a peer is alive, this rank dials the peer's port
 * once. The port of a process that has ended refuses a connection at once. Used on the loop only.
 */
final class DisconnectedPeers {
    /** Maximum wait for the answer of a peer. A peer that cannot be reached within this time counts as dead. */
    static final long ANSWER_NANOS = 5_000_000_000L;

    private final TcpPort port;
    /** Peers whose dial has not ended yet, and peers that have answered. */
    private final BitSet peers = new BitSet();

    private final List<CompletableFuture<Channel>> asking = new ArrayList<>();

    DisconnectedPeers(TcpPort port) {
        this.port = port;
    }

    boolean contains(int peer) {
        return peers.get(peer);
    }

    /**
     * Returns a dial that has only the address at which the peer was connected. Other addresses of the peer's name may
     * never answer, and would delay the decision whether the peer is dead. If {@code call} does not have the address of
     * the connection, for example because of address translation, returns {@code call}.
     *
     * @param remote other end of the connection that has ended; null if unknown
     * @param call   dial to all addresses of the peer
     */
    static TcpDialer.DialledPeer connectedAt(SocketAddress remote, TcpDialer.DialledPeer call) {
        InetAddress host = remote instanceof InetSocketAddress address ? address.getAddress() : null;
        List<InetSocketAddress> at = new ArrayList<>();
        for (InetSocketAddress each : call.to().get()) {
            if (each.getAddress().equals(host)) {
                at.add(each);
            }
        }
        return at.isEmpty()
                ? call
                : new TcpDialer.DialledPeer(
                        () -> at,
                        call.kind(),
                        call.member(),
                        call.channel(),
                        call.what(),
                        call.where(),
                        call.deadlineNanos());
    }

    /**
     * Dials a peer to find out whether it is alive.
     *
     * @param died  called after the dial if the peer does not answer
     */
    void ask(TcpDialer.DialledPeer call, FerroException ended, IntConsumer died) {
        int peer = call.member().to();
        peers.set(peer);
        ConnectAttempts tried = new ConnectAttempts(port::now);
        CompletableFuture<Channel> answer = port.dialer().dial(call, () -> tried.attempts() == 0 ? null : ended, tried);
        asking.add(answer);
        answer.whenComplete((channel, dead) -> {
            if (channel != null) {
                channel.close();
            } else {
                peers.clear(peer);
                died.accept(peer);
            }
        });
    }

    void close() {
        asking.forEach(one -> one.cancel(false));
    }
}
