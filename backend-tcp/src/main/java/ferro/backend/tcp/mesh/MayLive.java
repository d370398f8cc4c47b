package ferro.backend.tcp.mesh;

import ferro.FerroException;
import ferro.backend.tcp.connect.DialNotes;
import ferro.backend.tcp.connect.TcpDialer;
import ferro.backend.tcp.rendezvous.TcpPort;
import io.netty.channel.Channel;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntConsumer;

/**
 * The peers whose control connection has ended without a word, and which may live: something between the ranks, such as a
 * proxy or a firewall, may have ended the connection. Each is asked once, at its port. The port of a process that has ended
 * refuses at once. Used on the loop only.
 */
final class MayLive {
    /** Longest wait for the answer; a peer that cannot be reached for so long counts as dead. */
    static final long ANSWER_NANOS = 5_000_000_000L;

    private final TcpPort port;
    /** Peers that have not been asked to the end yet, and peers that have answered. */
    private final BitSet peers = new BitSet();

    private final List<CompletableFuture<Channel>> asking = new ArrayList<>();

    MayLive(TcpPort port) {
        this.port = port;
    }

    boolean contains(int peer) {
        return peers.get(peer);
    }

    /**
     * Asks a peer.
     *
     * @param call  peer and deadline
     * @param ended end of its connection
     * @param died  called later if the peer does not answer
     */
    void ask(TcpDialer.DialledPeer call, FerroException ended, IntConsumer died) {
        int peer = call.member().to();
        peers.set(peer);
        DialNotes tried = new DialNotes(port::now);
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
