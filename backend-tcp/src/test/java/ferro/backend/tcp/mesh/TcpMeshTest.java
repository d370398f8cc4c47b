package ferro.backend.tcp.mesh;

import static ferro.backend.tcp.mesh.Ranks.assertRefused;
import static ferro.backend.tcp.mesh.Ranks.assertSays;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.InvalidRankException;
import ferro.backend.tcp.link.DataSocket;
import ferro.backend.tcp.link.PolledLoop;
import ferro.backend.tcp.net.SocketConfig;
import ferro.backend.tcp.net.TcpProxy;
import ferro.backend.tcp.store.JoiningContext;
import ferro.backend.tcp.store.TcpPort;
import ferro.spi.GroupSpec;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.epoll.EpollChannelOption;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class TcpMeshTest {
    private static final long GROUP = 77;

    private final Ranks ranks = Ranks.onLoopback();

    @AfterEach
    void end() {
        ranks.close();
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void eachRankReceivesTheMessagesOfTheOthers() {
        List<TcpMesh> meshes = ranks.joinAll(3);
        List<Recorder> recorders = List.of(new Recorder(), new Recorder(), new Recorder());
        for (int rank = 0; rank < 3; rank++) {
            meshes.get(rank).register(GROUP, recorders.get(rank).inMesh());
        }
        for (int from = 0; from < 3; from++) {
            for (int to = 0; to < 3; to++) {
                if (from != to) {
                    meshes.get(from).control(to, GROUP, bytes("from " + from + " to " + to));
                }
            }
        }

        for (int rank = 0; rank < 3; rank++) {
            Set<String> heard = new HashSet<>();
            for (int i = 0; i < 2; i++) {
                Recorder.Heard one = recorders.get(rank).next();
                assertEquals("from " + one.peer() + " to " + rank, one.text());
                heard.add(one.text());
            }
            assertEquals(2, heard.size());
        }
    }

    /** The higher rank has the first attempts, and its answers come when the lower rank has given them up. */
    @ParameterizedTest
    @EnumSource(ConnectionPurpose.class)
    void aLaneIsConnectedOnceAfterAbandonedAttempts(ConnectionPurpose lane) throws IOException {
        int challengeBytes = 68;
        CountDownLatch until = new CountDownLatch(1);
        Map<String, String> hasty = Map.of("ferro.tcp.handshake.timeout", "200ms");
        try (TcpProxy proxy = new TcpProxy()) {
            CompletableFuture<TcpMesh> joining = ranks.join(0, 2, Ranks.LONG, hasty);
            TcpMesh second = Ranks.result(ranks.join(1, 2, Ranks.LONG, proxy.settings()));
            TcpMesh first = Ranks.result(joining);
            List<Recorder> recorders = List.of(new Recorder(), new Recorder());
            first.register(GROUP, recorders.get(0).inMesh());
            second.register(GROUP, recorders.get(1).inMesh());
            proxy.holdAnswers(2, (data, from, length) -> from == challengeBytes, until);

            first.openData(1, GROUP, lane, 0);
            for (Recorder recorder : recorders) {
                assertEquals(lane + " 0", recorder.next().text());
            }
            until.countDown();
            proxy.awaitHeldEnds();

            assertEquals(0, proxy.answersToHold());
            first.control(1, GROUP, bytes("last"));
            second.control(0, GROUP, bytes("last"));
            for (Recorder recorder : recorders) {
                assertEquals("last", recorder.next().text());
            }
        } finally {
            until.countDown();
        }
    }

    @Test
    void theRemainingTimeOfAJoinCountsFromItsStart() {
        Map<String, String> limited = Map.of("ferro.join.timeout", "50s");
        CompletableFuture<TcpMesh> first = ranks.join(0, 2, Ranks.LONG, limited);
        TcpMesh second = Ranks.result(ranks.join(1, 2, Ranks.LONG, limited));

        for (TcpMesh mesh : List.of(Ranks.result(first), second)) {
            Duration left = mesh.joinLeft();
            assertTrue(left.compareTo(Duration.ofSeconds(50)) < 0, left::toString);
            assertTrue(left.compareTo(Duration.ofMillis(1)) > 0, left::toString);
        }
    }

    @Test
    void messagesAboveFourKilobytesAreRefusedWithBothNumbers() {
        List<TcpMesh> meshes = ranks.joinAll(2);

        assertRefused(
                IllegalArgumentException.class,
                () -> meshes.get(0).control(1, GROUP, ByteBuffer.allocate(4097)),
                "4097",
                "4096");
        assertThrows(InvalidRankException.class, () -> meshes.get(0).control(2, GROUP, bytes("x")));
    }

    @Test
    void aDroppedPeerIsLostToAllItsGroupsAndToLaterOnes() {
        List<TcpMesh> meshes = ranks.joinAll(3);
        Recorder first = new Recorder();
        Recorder second = new Recorder();
        meshes.get(0).register(GROUP, first.inMesh());
        meshes.get(0).register(GROUP + 1, second.inMesh());
        long start = System.nanoTime();

        meshes.get(2).drop();

        for (Recorder recorder : List.of(first, second)) {
            Recorder.Heard lost = recorder.next();
            assertEquals("lost", lost.kind());
            assertEquals(2, lost.peer());
            assertEquals(Code.PEER_LOST, lost.cause().code());
            assertEquals(Set.of(2), lost.cause().where().culprits());
            assertTrue(lost.text().contains("without a goodbye"), lost.text());
            assertTrue(lost.nanos() - start < TimeUnit.SECONDS.toNanos(2), "too late");
        }
        Recorder late = new Recorder();
        meshes.get(0).register(GROUP + 2, late.inMesh());
        assertEquals(2, late.next().peer());
    }

    @Test
    @DisplayName("row 33: a rank that leaves 16 MiB of control messages unread is given up with PARTITION")
    void aRankThatDoesNotReadControlMessagesIsGivenUp() throws IOException {
        CountDownLatch never = new CountDownLatch(1);
        try (TcpProxy proxy = new TcpProxy()) {
            var first = ranks.join(0, 2, Ranks.LONG);
            Ranks.result(ranks.join(1, 2, Ranks.LONG, proxy.settings()));
            TcpMesh mesh = Ranks.result(first);
            Recorder recorder = new Recorder();
            mesh.register(GROUP, recorder.inMesh());
            proxy.hold(never);

            int sent = 0;
            while (recorder.heard.isEmpty() && sent < 64 << 20) {
                mesh.control(1, GROUP, ByteBuffer.allocate(4096));
                sent += 4096;
            }

            Recorder.Heard lost = recorder.next();
            assertEquals("lost", lost.kind());
            assertEquals(Code.PARTITION, lost.cause().code());
            assertTrue(lost.text().contains("it reads nothing"), lost.text());
        } finally {
            never.countDown();
        }
    }

    @Test
    void aConnectionThatCannotBeAcceptedFailsBothSidesAndBlamesTheAcceptor() throws IOException {
        try (TcpProxy proxy = new TcpProxy()) {
            GroupSpec spec = GroupSpec.of("g", 1, 2, Ranks.LONG);
            JoiningContext context = ranks.context(spec, proxy.settings());
            CompletableFuture<TcpMesh> joining = ranks.join(0, 2, Ranks.LONG);
            TcpMesh higher = TcpMesh.join(spec, context);
            List<TcpMesh> meshes = List.of(Ranks.result(joining), higher);
            List<Recorder> heard = List.of(new Recorder(), new Recorder());
            CountDownLatch never = new CountDownLatch(1);
            proxy.onData((from, bytes, length) -> isOver(never));
            for (int rank = 0; rank < 2; rank++) {
                meshes.get(rank).register(GROUP, heard.get(rank).inMesh());
                meshes.get(rank).openData(1 - rank, GROUP, ConnectionPurpose.COLLECTIVE, 0);
            }
            TcpPort port = context.find(TcpPort.class).orElseThrow();
            port.loop().run(() -> port.notAccepted("Too many open files (EMFILE)"));
            context.release(TcpPort.class);

            for (int rank = 0; rank < 2; rank++) {
                Recorder.Heard said = heard.get(rank).next();
                assertEquals("noData", said.kind());
                assertEquals(Code.RESOURCE, said.cause().code(), said.text());
                assertEquals(Set.of(1), said.cause().where().culprits(), said.text());
                assertSays(said.text(), "rank 1 of \"g\" cannot accept a connection: Too many open files (EMFILE)");
            }
            never.countDown();
            higher.close();
        }
    }

    private static boolean isOver(CountDownLatch held) {
        try {
            return held.await(60, TimeUnit.SECONDS);
        } catch (InterruptedException interrupted) {
            throw new AssertionError("interrupted while holding a connection", interrupted);
        }
    }

    @Test
    void aJoiningRankThatCannotAcceptIsRefusedAtOnce() {
        GroupSpec spec = GroupSpec.of("g", 1, 2, Ranks.LONG);
        JoiningContext context = ranks.context(spec, Map.of());
        CompletableFuture<TcpMesh> joining = CompletableFuture.supplyAsync(() -> TcpMesh.join(spec, context));
        while (!joining.isDone()) {
            context.find(TcpPort.class).ifPresent(port -> {
                port.loop().run(() -> port.notAccepted("Too many open files (EMFILE)"));
                context.release(TcpPort.class);
            });
            Thread.yield();
        }

        FerroException failure = Ranks.failure(joining);

        Ranks.assertSays(failure, Code.RESOURCE, "Too many open files (EMFILE)");
        assertEquals(Set.of(1), failure.where().culprits(), failure.getMessage());
    }

    @Test
    void anOrderlyCloseIsReportedAsSuch() {
        List<TcpMesh> meshes = ranks.joinAll(2);
        Recorder recorder = new Recorder();
        meshes.get(0).register(GROUP, recorder.inMesh());
        meshes.get(1).retain();
        meshes.get(1).close();
        meshes.get(1).control(0, GROUP, bytes("last words"));

        meshes.get(1).close();

        assertEquals("last words", recorder.next().text());
        Recorder.Heard lost = recorder.next();
        assertEquals("lost", lost.kind());
        assertTrue(lost.text().contains("closed the group"), lost.text());
        assertThrows(IllegalStateException.class, () -> meshes.get(1).retain());
    }

    @Test
    void aWorldOfOneNeedsNoStoreAndNoPort() {
        var spec = ferro.spi.GroupSpec.of("alone", 0, 1, Ranks.SHORT);
        try (TcpMesh mesh = TcpMesh.join(spec, ferro.group.SystemContext.of(Map.of()))) {
            mesh.register(GROUP, new Recorder().inMesh());
            assertEquals(1, mesh.worldSize());
            assertThrows(InvalidRankException.class, () -> mesh.control(0, GROUP, bytes("x")));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"auto", "nio"})
    void bothSidesGetOneDataChannelForAnyNumberOfRequests(String io) throws IOException {
        ranks.common.put("ferro.tcp.io", io);
        List<TcpMesh> meshes = ranks.joinAll(2);
        Recorder lower = new Recorder();
        Recorder higher = new Recorder();
        meshes.get(0).register(GROUP, lower.inMesh());
        meshes.get(1).openData(0, GROUP, ConnectionPurpose.COLLECTIVE, 0);
        meshes.get(1).openData(0, GROUP, ConnectionPurpose.COLLECTIVE, 0);
        meshes.get(0).openData(1, GROUP, ConnectionPurpose.COLLECTIVE, 0);
        Recorder.Heard atLower = lower.next();
        meshes.get(1).register(GROUP, higher.inMesh());
        Recorder.Heard atHigher = higher.next();

        assertEquals("COLLECTIVE 0", atLower.text());
        assertEquals("COLLECTIVE 0", atHigher.text());
        for (Channel channel : List.of(atLower.channel(), atHigher.channel())) {
            assertFalse(channel.isRegistered());
            assertFalse(channel.config().isAutoRead());
            assertNull(channel.pipeline().firstContext());
            assertEquals(true, channel.config().getOption(ChannelOption.SO_KEEPALIVE));
            if (meshes.get(0).io().epoll()) {
                assertEquals(60, channel.config().getOption(EpollChannelOption.TCP_KEEPIDLE));
            }
        }
        meshes.get(0).openData(1, GROUP, ConnectionPurpose.POINT_TO_POINT, 3);
        assertEquals("POINT_TO_POINT 3", lower.next().text());
        assertEquals("POINT_TO_POINT 3", higher.next().text());
        assertTrue(lower.heard.isEmpty() && higher.heard.isEmpty());
        exchange(meshes.get(0).io(), atLower.channel(), atHigher.channel());
    }

    /** Drives the channels as the data path does; what stands before an end is not lost. */
    private static void exchange(SocketConfig io, Channel from, Channel to) throws IOException {
        byte[] said = "first bytes".getBytes(StandardCharsets.UTF_8);
        ByteBuffer out = ByteBuffer.allocateDirect(64).put(said);
        ByteBuffer in = ByteBuffer.allocateDirect(64);
        PolledLoop loop = PolledLoop.open(io);
        try {
            DataSocket sending = loop.adopt(from);
            assertEquals(said.length, sending.write(out, 0, said.length));
            sending.close();
            DataSocket receiving = loop.adopt(to);
            int came = 0;
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            while (came < said.length && System.nanoTime() < deadline) {
                loop.look();
                came += Math.max(0, receiving.read(in, came, 64));
            }
            receiving.close();
        } finally {
            loop.close();
        }
        byte[] heard = new byte[said.length];
        in.get(heard);
        assertArrayEquals(said, heard);
    }
}
