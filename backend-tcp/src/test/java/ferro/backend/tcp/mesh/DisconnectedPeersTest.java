package ferro.backend.tcp.mesh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ferro.backend.tcp.net.AddressLookup;
import ferro.backend.tcp.store.JoiningContext;
import ferro.backend.tcp.store.TcpPort;
import ferro.spi.GroupSpec;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whether a peer lives after its connection has ended is asked where the connection was. */
@Timeout(60)
class DisconnectedPeersTest {
    private static final long GROUP = 7;

    /** Another address of the peer's name leads to a program that never answers. */
    @ParameterizedTest(name = "rank {0} ends")
    @ValueSource(ints = {0, 1})
    void onlyTheConnectedAddressOfADeadPeerIsProbed(int ends) throws Exception {
        try (Ranks ranks = Ranks.onLoopback();
                ServerSocket other = new ServerSocket(0, 1, AddressLookup.literal("127.0.0.2"))) {
            List<JoiningContext> contexts = new ArrayList<>();
            List<TcpPort> ports = new ArrayList<>();
            List<TcpMesh> peers = new ArrayList<>();
            for (int rank = 0; rank < 2; rank++) {
                GroupSpec spec = GroupSpec.of("g", rank, 2, Ranks.LONG);
                contexts.add(ranks.context(spec, Map.of()));
                ports.add(TcpPort.use(spec, contexts.get(rank), deadline()));
                peers.add(Ranks.mesh(spec, ports.get(rank), GROUP));
                ports.get(rank).enter(GROUP, 2, peers.get(rank));
            }
            InetSocketAddress silent = (InetSocketAddress) other.getLocalSocketAddress();
            PeerRecord[] known = ports.stream()
                    .map(port -> new PeerRecord(List.of(port.bound(), silent), "", true))
                    .toArray(PeerRecord[]::new);
            for (int rank = 0; rank < 2; rank++) {
                TcpMesh own = peers.get(rank);
                ports.get(rank).loop().run(() -> own.connect(known, deadline()));
            }
            peers.forEach(each -> Ranks.result(each.ready));
            Recorder recorder = new Recorder();
            TcpPort port = ports.get(1 - ends);
            peers.get(1 - ends).register(5, recorder.inMesh());

            // the last use: closes the port and its connections, as the end of the process does
            contexts.get(ends).release(TcpPort.class);

            assertEquals("lost", recorder.next().kind());
            other.setSoTimeout(1);
            assertThrows(SocketTimeoutException.class, other::accept);
        }
    }

    private static long deadline() {
        return System.nanoTime() + Ranks.LONG.toNanos();
    }
}
