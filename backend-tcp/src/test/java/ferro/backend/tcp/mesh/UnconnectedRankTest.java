package ferro.backend.tcp.mesh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.Store;
import ferro.backend.tcp.net.AddressLookup;
import ferro.backend.tcp.net.ConnectAttempts;
import ferro.backend.tcp.net.Sockets;
import ferro.backend.tcp.store.PeerHost;
import ferro.backend.tcp.store.Roster;
import ferro.group.SystemContext;
import ferro.spi.GroupSpec;
import io.netty.channel.ConnectTimeoutException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.ServerSocket;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is said of ranks that announced themselves and cannot be reached. */
@Timeout(60)
class UnconnectedRankTest {
    private static final InetSocketAddress PEER = new InetSocketAddress(AddressLookup.literal("10.0.0.1"), 1);

    private static final String ADVICE =
            "; open their ports (ferro.tcp.port sets a range), or make them announce an address"
                    + " that this host can reach (ferro.tcp.interface, ferro.tcp.advertise)";

    private final AtomicLong clock = new AtomicLong();

    @Test
    void anAttemptIsDescribedByItsResultOrItsDuration() {
        ConnectAttempts notes = new ConnectAttempts(clock::get);
        assertEquals("not tried yet", notes.last());
        notes.begun(PEER);
        clock.addAndGet(TimeUnit.MILLISECONDS.toNanos(1_500));
        assertEquals("no answer in 1.5 s", notes.last());

        clock.addAndGet(TimeUnit.MILLISECONDS.toNanos(3_500));
        assertEquals(
                "no answer in 5 s: does a firewall block the connection?",
                notes.failed(PEER, new ConnectTimeoutException("timed out")));
        assertEquals("no answer in 0 s", failedBy(new ClosedChannelException()));
        assertEquals("no route", failedBy(new NoRouteToHostException("no route")));
        assertEquals("no route", failedBy(new ConnectException("error(-113): No route to host")));
        assertEquals("no route", failedBy(new IOException("Network is unreachable")));
        assertEquals(
                "refused: nothing listens there, or a firewall rejects the connection",
                failedBy(new ConnectException("Connection refused: /10.0.0.1:1")));
        assertEquals("connected, but the other side closed the connection and sent nothing", failedBy(null));
        assertEquals("connected, but received nothing in 0 s", failedBy(new TimeoutException("late")));
        assertEquals("an odd end", failedBy(new IOException("an odd end")));
        assertEquals(1, notes.attempts());
    }

    @Test
    void eachOfSeveralAddressesIsDescribedWithItsResult() {
        InetSocketAddress silent = new InetSocketAddress(AddressLookup.literal("fd00::1"), 1);
        ConnectAttempts notes = new ConnectAttempts(clock::get);
        notes.begun(PEER);
        notes.failed(PEER, new ConnectException("Connection refused"));
        notes.begun(silent);

        assertEquals(
                "10.0.0.1:1: refused: nothing listens there, or a firewall rejects the connection;"
                        + " [fd00::1]:1: no answer in 0 s",
                notes.last());
    }

    private String failedBy(Throwable cause) {
        ConnectAttempts notes = new ConnectAttempts(clock::get);
        notes.begun(PEER);
        notes.failed(PEER, cause);
        return notes.last();
    }

    @Test
    void unreachedRanksOfOneHostWithOneReasonShareASentence() {
        List<UnconnectedRank> all = new ArrayList<>();
        all.add(new UnconnectedRank(
                3, "node 0 (host a, 10.0.0.1)", "10.0.0.1:40003", UnconnectedRank.WAITING, 0, true));
        all.add(new UnconnectedRank(10, "node 2 (host c, 10.0.0.3)", "10.0.0.3:40000", "nothing has come", 0, false));
        for (int rank = 4; rank < 10; rank++) {
            all.add(new UnconnectedRank(
                    rank, "node 1 (host b, 10.0.0.2)", "10.0.0.2:4000" + rank, "no route", rank, false));
        }

        assertEquals(
                "ranks 4, 5, 6, 7, 8, 9 on node 1 (host b, 10.0.0.2) announced 10.0.0.2:40004, 10.0.0.2:40005,"
                        + " 10.0.0.2:40006, 10.0.0.2:40007 and 2 more; connect: no route (attempts: 9); rank 10 on node 2"
                        + " (host c, 10.0.0.3) announced 10.0.0.3:40000; nothing has come; rank 3 on node 0 (host a,"
                        + " 10.0.0.1) announced 10.0.0.1:40003; connected, and itself waiting for other ranks",
                UnconnectedRank.text(all));
    }

    @Test
    void theNodeIsNamedIfAllNodesHaveEquallyManyRanks() {
        Map<String, String> second = Map.of("LOCAL_RANK", "1", "LOCAL_WORLD_SIZE", "2");
        assertEquals(1, home(3, 4, second).node());
        assertEquals(-1, home(2, 4, second).node());
        assertEquals(-1, home(1, 2, second).node());
        assertEquals(-1, home(3, 5, second).node());
        assertEquals(-1, home(3, 4, Map.of()).node());

        PeerHost read = PeerHost.parsed(new PeerHost(1, "a b\n").text());
        assertEquals("node 1 (host a?b?, 10.0.0.2)", read.at("10.0.0.2"));
        assertEquals("host b (10.0.0.2)", new PeerHost(-1, "b").at("10.0.0.2"));
        assertEquals("10.0.0.2", PeerHost.parsed("nonsense").at("10.0.0.2"));
    }

    private static PeerHost home(int rank, int worldSize, Map<String, String> settings) {
        return PeerHost.of(
                GroupSpec.of("g", rank, worldSize, Ranks.LONG),
                SystemContext.of(settings),
                AddressLookup.literal("127.0.0.1"));
    }

    @Test
    void unreachedRanksAreNamedWithAddressAttemptsAndReason() throws IOException {
        int nobody = Sockets.freePort();
        String host = ownHost();
        FerroException failure = notReached(nobody, host, host);

        assertEquals(Code.RENDEZVOUS, failure.code());
        for (String part : List.of(
                "missing: [0, 2] of 3, which announced themselves but did not connect within ",
                "rank 0 on node 0 (host " + host + ", 127.0.0.1) announced 127.0.0.1:" + nobody
                        + "; no connection from there has reached this rank at 127.0.0.1:",
                ": is that rank stopped or without a free core?",
                "rank 2 on node 2 (host " + host + ", 127.0.0.1) announced 127.0.0.1:" + nobody
                        + "; connect: refused: nothing listens there (attempts: ")) {
            assertTrue(failure.getMessage().contains(part), failure.getMessage());
        }
        // both are on this machine, where no port has to be opened
        assertFalse(failure.getMessage().contains("firewall"), failure.getMessage());
        assertFalse(failure.getMessage().contains(ADVICE), failure.getMessage());
        assertEquals(Set.of(0, 2), failure.where().culprits());
    }

    @Test
    void aPeerOfAnotherMachineThatAnnouncesLoopbackIsNotReached() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 10, AddressLookup.literal("127.0.0.1"))) {
            String text = notReached(silent.getLocalPort(), "a", "c").getMessage();

            assertTrue(text.contains("rank 0 on node 0 (host a, 127.0.0.1) announced 127.0.0.1:"), text);
            assertTrue(text.contains("rank 2 on node 2 (host c, 127.0.0.1) announced 127.0.0.1:"), text);
            assertTrue(text.contains(ADVICE), text);
        }
    }

    @Test
    void aRankOnLoopbackFailsAtOnceAtALinkLocalPeerAndBlamesNoRank() {
        GroupSpec announcing = GroupSpec.of("g", 0, 2, Ranks.LONG);
        try (Ranks ranks = Ranks.onLoopback();
                Store store = ranks.context(announcing, Map.of()).store()) {
            announce(store, 0, new PeerHost(0, "a"), "fe80::1%cable9", 29_600);
            long begun = System.nanoTime();

            FerroException failure = Ranks.failure(ranks.join(1, 2, Duration.ofSeconds(40)));

            assertTrue(System.nanoTime() - begun < TimeUnit.SECONDS.toNanos(30), "it waited for its deadline");
            assertEquals(Code.RENDEZVOUS, failure.code(), failure.getMessage());
            assertEquals(Set.of(), failure.where().culprits(), failure.getMessage());
            for (String part : List.of("rank 0 at fe80::1: ", "this rank uses 127.0.0.1", "ferro.tcp.interface")) {
                assertTrue(failure.getMessage().contains(part), failure.getMessage());
            }
        }
    }

    private static String ownHost() {
        try (Ranks ranks = Ranks.onLoopback()) {
            return ranks.context(GroupSpec.of("g", 0, 1, Ranks.LONG), Map.of())
                    .processes()
                    .host();
        }
    }

    /** Returns the failure of rank 1, whose two peers announce a port where no rank listens. */
    private static FerroException notReached(int port, String hostOfZero, String hostOfTwo) {
        Duration patience = Duration.ofMillis(2_300);
        FerroException failure = notReached(port, hostOfZero, hostOfTwo, patience);
        while (!isComplete(failure.getMessage()) && patience.toSeconds() < 20) {
            patience = patience.multipliedBy(2);
            failure = notReached(port, hostOfZero, hostOfTwo, patience);
        }
        return failure;
    }

    /** On a busy machine the limit may end before this rank has dialled, or before it has waited long enough to ask for a cause. */
    private static boolean isComplete(String text) {
        return text.matches(".*connect: (refused|connected).*") && text.matches(".*(rank stopped|firewall block).*");
    }

    private static FerroException notReached(int port, String hostOfZero, String hostOfTwo, Duration patience) {
        GroupSpec announcing = GroupSpec.of("g", 0, 3, Ranks.LONG);
        try (Ranks ranks = Ranks.onLoopback();
                Store store = ranks.context(announcing, Map.of()).store()) {
            announce(store, 0, new PeerHost(0, hostOfZero), port);
            announce(store, 2, new PeerHost(2, hostOfTwo), port);
            return Ranks.failure(ranks.join(1, 3, patience));
        }
    }

    private static void announce(Store store, int rank, PeerHost machine, int port) {
        announce(store, rank, machine, "127.0.0.1", port);
    }

    private static void announce(Store store, int rank, PeerHost machine, String host, int port) {
        Roster.RankEntry card = new Roster.RankEntry(host, port, 1, rank, machine, "");
        store.set("g/1/card/" + rank, card.text().getBytes(StandardCharsets.UTF_8));
    }
}
