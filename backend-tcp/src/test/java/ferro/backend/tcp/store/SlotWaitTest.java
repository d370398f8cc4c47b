package ferro.backend.tcp.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.backend.tcp.TcpStoreServer;
import ferro.backend.tcp.mesh.Ranks;
import ferro.backend.tcp.mesh.TcpMesh;
import ferro.backend.tcp.net.Sockets;
import ferro.backend.tcp.net.Threads;
import ferro.backend.tcp.net.TlsPolicy;
import ferro.backend.tcp.store.Roster.RankEntry;
import ferro.spi.GroupSpec;
import java.io.IOException;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A rank that is started again alone, while the job that had its place is still there. */
@Timeout(60)
class SlotWaitTest {
    private static final Map<String, String> CLUSTER = Map.of(
            "PMI_RANK",
            "1",
            "PMI_SIZE",
            "2",
            "MPI_LOCALRANKID",
            "1",
            "MPI_LOCALNRANKS",
            "2",
            "RANK",
            "",
            "WORLD_SIZE",
            "");

    private final Ranks ranks = Ranks.onLoopback();

    @AfterEach
    void end() {
        ranks.close();
    }

    /** Takes the place of rank 1 as a process that has ended: nobody listens where it did. */
    private Roster ended() throws IOException {
        Roster roster = new Roster(
                ranks.context(GroupSpec.of("g", 0, 2, Ranks.LONG), Map.of()).store(),
                GroupSpec.of("g", 1, 2, Ranks.LONG),
                new RankEntry("127.0.0.1", Sockets.freePort(), 4711, 9, PeerHost.UNKNOWN, ""),
                new Roster.SharedSettings(false, TlsPolicy.TlsMode.AUTO, false),
                new ReleasedSlots());
        roster.claim();
        return roster;
    }

    @Test
    void aRankIsRefusedIfAnEndedProcessStillHoldsItsSlot() throws IOException {
        ended();
        long start = System.nanoTime();

        FerroException failure = Ranks.failure(ranks.join(1, 2, Ranks.SHORT));

        assertTrue(System.nanoTime() - start >= TimeUnit.MILLISECONDS.toNanos(800), "not waited");
        Ranks.assertSays(
                failure,
                Code.RENDEZVOUS,
                "the rank is held by process 4711 at 127.0.0.1:",
                "a rank cannot rejoin a running job; end the other ranks",
                "ferro.join.timeout");
    }

    @Test
    void anInterruptedWaitForASlotNamesGroupAndRank() throws Exception {
        ended();
        GroupSpec spec = GroupSpec.of("g", 1, 2, Ranks.LONG);
        JoiningContext context = ranks.context(spec, Map.of());
        CompletableFuture<Thread> started = new CompletableFuture<>();
        CompletableFuture<TcpMesh> second = Threads.start(() -> {
            started.complete(Thread.currentThread());
            return TcpMesh.join(spec, context);
        });
        Threads.awaitInside(SlotWait.class, "pause", 1);

        Ranks.result(started).interrupt();

        FerroException failure = Ranks.failure(second);
        assertEquals(Code.INTERRUPTED, failure.code());
        String text = failure.getMessage();
        assertTrue(text.startsWith("interrupted while joining \"g\" as rank 1: rank 1 is still held by"), text);
    }

    @Test
    void aRankJoinsWhenItsSlotIsReleased() throws Exception {
        Roster before = ended();
        CompletableFuture<TcpMesh> second = ranks.join(1, 2, Ranks.LONG);
        Threads.awaitInside(SlotWait.class, "pause", 1);

        before.giveUp();

        assertEquals(0, Ranks.result(ranks.join(0, 2, Ranks.LONG)).rank());
        assertEquals(1, Ranks.result(second).rank());
    }

    @Test
    void aRankTakesTheSlotThatItsContextHasReleased() throws IOException {
        Roster before = ended();
        GroupSpec spec = GroupSpec.of("g", 1, 2, Ranks.LONG);
        JoiningContext context = ranks.context(spec, Map.of());
        ReleasedSlots.of(context).add(9, 0);

        CompletableFuture<TcpMesh> second = Threads.start(() -> TcpMesh.join(spec, context));

        assertEquals(0, Ranks.result(ranks.join(0, 2, Ranks.LONG)).rank());
        Ranks.result(second).close();
        before.giveUp();
    }

    @Test
    void aRankJoinsTheNextJobWhenTheOldStoreIsGone() throws Exception {
        ended();
        CompletableFuture<TcpMesh> second = ranks.join(1, 2, Ranks.LONG);
        Threads.awaitInside(SlotWait.class, "pause", 1);
        int port = ranks.server.port();

        ranks.server.close();
        try (TcpStoreServer next = TcpStoreServer.start(InetAddress.getLoopbackAddress(), port, "default", 4, null)) {
            CompletableFuture<TcpMesh> first = ranks.join(0, 2, Ranks.LONG);

            assertEquals(port, next.port());
            assertEquals(0, Ranks.result(first).rank());
            assertEquals(1, Ranks.result(second).rank());
        }
    }

    @Test
    void aClusterMayStartARankWhileItsOldProcessEnds() throws Exception {
        List<TcpMesh> old = ranks.joinAll(2);
        CompletableFuture<TcpMesh> second = ranks.join(1, 2, Ranks.LONG, CLUSTER);
        Threads.awaitInside(SlotWait.class, "pause", 1);

        old.forEach(TcpMesh::close);

        assertEquals(0, Ranks.result(ranks.join(0, 2, Ranks.LONG)).rank());
        assertEquals(1, Ranks.result(second).rank());
    }
}
