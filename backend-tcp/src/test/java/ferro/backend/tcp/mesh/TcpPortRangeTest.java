package ferro.backend.tcp.mesh;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.backend.tcp.net.PortCandidates;
import ferro.backend.tcp.net.Sockets;
import ferro.group.SystemContext;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The ports that {@code ferro.tcp.port} allows, and which of them a rank takes. */
@Timeout(60)
class TcpPortRangeTest {
    private static final String SETTING = "ferro.tcp.port";

    @Test
    void aRankTriesPortsFromItsLocalRankOnAndTheStorePortLast() {
        assertArrayEquals(new int[] {0}, ports("0", 2, 0));
        assertArrayEquals(new int[] {20002, 20003, 20000, 20001}, ports("20000-20003", 2, 0));
        assertArrayEquals(new int[] {20001, 20002, 20003, 20000}, ports("20000-20003", 5, 0));
        assertArrayEquals(new int[] {20003, 20001, 20002, 20000}, ports("20000-20003", 3, 20000));
        assertArrayEquals(new int[] {20000}, ports("20000", 3, 20000));
    }

    private static int[] ports(String range, int localRank, int storePort) {
        Map<String, String> settings = Map.of(SETTING, range, "LOCAL_RANK", "" + localRank);
        return PortCandidates.of(SystemContext.of(settings), storePort, false).ports();
    }

    @Test
    void ranksOfOneHostShareAPortRangeBesideTheStorePort() throws IOException {
        int first = threeInARow();
        try (Ranks ranks = Ranks.onLoopback();
                ServerSocket other = listening(first + 1)) {
            Map<String, String> asked = new HashMap<>();
            asked.put(SETTING, first + "-" + (first + 2));
            asked.put("MASTER_PORT", "" + freePortOutside(first, first + 2));
            asked.put("FERRO_STORE_SERVED", "0");
            List<CompletableFuture<TcpMesh>> joining = List.of(
                    ranks.join(0, 3, Ranks.LONG, with(asked, 0)),
                    ranks.join(1, 3, Ranks.LONG, with(asked, 1)),
                    ranks.join(2, 3, Ranks.LONG, with(asked, 2)));
            // with the first failure, because the others would wait for the rank that failed
            CompletableFuture<?> all = CompletableFuture.allOf(joining.toArray(CompletableFuture[]::new));
            joining.forEach(one -> one.whenComplete((mesh, failure) -> {
                if (failure != null) {
                    all.completeExceptionally(failure);
                }
            }));
            Ranks.result(all);

            assertEquals(List.of("127.0.0.1"), Sockets.listening(Integer.parseInt(asked.get("MASTER_PORT"))));
            assertEquals(List.of("127.0.0.1"), Sockets.listening(first), "round the range");
            assertEquals(List.of("127.0.0.1"), Sockets.listening(first + 2));
            assertEquals(first + 1, other.getLocalPort());
        }
    }

    private static Map<String, String> with(Map<String, String> settings, int localRank) {
        Map<String, String> all = new HashMap<>(settings);
        all.put("LOCAL_RANK", "" + localRank);
        return all;
    }

    /** Linux can refuse a free port to both of two processes that begin to listen on it at once. */
    @Test
    void aPortThatWasRefusedOnceIsTriedAgain() throws IOException {
        int first = threeInARow();
        ServerSocket one = listening(first);
        try (ServerSocket two = listening(first + 1)) {
            PortCandidates choice =
                    PortCandidates.of(SystemContext.of(Map.of(SETTING, first + "-" + (first + 1))), 0, false);
            InetSocketAddress bound = choice.firstFree(port -> {
                try (ServerSocket socket = listening(port)) {
                    return (InetSocketAddress) socket.getLocalSocketAddress();
                } catch (IOException taken) {
                    // the port that the rank tries first is free from now on
                    one.close();
                    throw taken;
                }
            });
            assertEquals(first, bound.getPort());
            assertEquals(first + 1, two.getLocalPort());
        }
    }

    @Test
    void aFullPortRangeIsNamedWithTheProcessesThatHoldIt() throws IOException {
        int first = threeInARow();
        String self = "this process, " + ProcessHandle.current().pid() + " (";
        try (Ranks ranks = Ranks.onLoopback();
                ServerSocket one = listening(first);
                ServerSocket two = listening(first + 1)) {
            String range = first + "-" + (first + 1);
            FerroException none = Ranks.failure(ranks.join(1, 2, Ranks.LONG, Map.of(SETTING, range)));

            assertEquals(Code.RENDEZVOUS, none.code());
            String held = "cannot listen on 127.0.0.1 at any of the 2 ports of ferro.tcp.port=" + range + ": held "
                    + one.getLocalPort() + " by " + self;
            assertTrue(none.getMessage().contains(held), none.getMessage());
            assertTrue(none.getMessage().contains(two.getLocalPort() + " by " + self), none.getMessage());

            FerroException fixed = Ranks.failure(ranks.join(1, 2, Ranks.LONG, Map.of(SETTING, "" + first)));
            assertTrue(fixed.getMessage().contains("it is held: " + first + " by " + self), fixed.getMessage());
            assertTrue(
                    fixed.getMessage().contains("a range, such as " + first + "-" + (first + 15)), fixed.getMessage());
        }
    }

    /** The first of three ports that nobody holds. */
    private static int threeInARow() throws IOException {
        for (int attempt = 0; attempt < 100; attempt++) {
            int first = Sockets.freePort();
            try (ServerSocket second = listening(first + 1);
                    ServerSocket third = listening(first + 2)) {
                return Math.min(second.getLocalPort(), third.getLocalPort()) - 1;
            } catch (IOException taken) {
                continue;
            }
        }
        throw new IOException("no three free ports in a row in 100 attempts");
    }

    /** A free port that is none of a range, because a rank that comes before rank 0 may take it from the range. */
    private static int freePortOutside(int first, int last) throws IOException {
        int port = Sockets.freePort();
        while (port >= first && port <= last) {
            port = Sockets.freePort();
        }
        return port;
    }

    private static ServerSocket listening(int port) throws IOException {
        ServerSocket socket = new ServerSocket();
        try {
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        } catch (IOException taken) {
            socket.close();
            throw taken;
        }
        return socket;
    }
}
