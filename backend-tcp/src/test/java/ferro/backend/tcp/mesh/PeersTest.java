package ferro.backend.tcp.mesh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.Store;
import ferro.backend.tcp.net.Handshake;
import ferro.backend.tcp.net.Hello;
import ferro.backend.tcp.net.Refusal;
import ferro.backend.tcp.net.Secret;
import ferro.backend.tcp.net.Secret.Role;
import ferro.backend.tcp.net.Stranger;
import ferro.backend.tcp.store.JoiningContext;
import ferro.backend.tcp.store.PeerHost;
import ferro.backend.tcp.store.Roster;
import ferro.backend.tcp.store.TcpPort;
import ferro.spi.GroupSpec;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.embedded.EmbeddedChannel;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Who may connect to a rank, once it has proved that it belongs to the job. */
@Timeout(60)
class PeersTest {
    private static final GroupSpec SPEC = GroupSpec.of("g", 1, 3, Ranks.LONG);
    private static final Hello.ChannelIdentity NONE = Hello.ChannelIdentity.NONE;
    private static final byte[] PROVED = {};
    private static final Hello.HelloOptions NO_OPTIONS = new Hello.HelloOptions(false, false);
    private static final Hello DATA_HELLO = new Hello(
            Hello.ConnectionKind.DATA,
            "default",
            new Hello.RankPair(7, 0, 3, 1),
            new Hello.ChannelIdentity(5, (byte) 1, 3),
            NO_OPTIONS,
            new Hello.AttemptId(1, 1, new byte[Hello.NONCE_BYTES]));

    private final Ranks ranks = Ranks.onLoopback();
    private final JoiningContext context = ranks.context(SPEC, Map.of());
    private final TcpMesh peers =
            Ranks.mesh(SPEC, TcpPort.use(SPEC, context, System.nanoTime() + Ranks.LONG.toNanos()), 7);
    private final Recorder recorder = new Recorder();

    @AfterEach
    void end() {
        context.release(TcpPort.class);
        ranks.close();
    }

    /** Says a hello, proves itself, and returns what is refused; null if it is let in. */
    private static Refusal knock(
            Stranger stranger, Hello.ConnectionKind kind, Hello.RankPair member, Hello.ChannelIdentity channel) {
        byte[] nonce = new byte[Hello.NONCE_BYTES];
        new SecureRandom().nextBytes(nonce);
        byte[] opening =
                new Hello(kind, "default", member, channel, NO_OPTIONS, new Hello.AttemptId(7, 1, nonce)).encoded();
        stranger.say(opening);
        byte[] head = stranger.hear(Handshake.HEAD_BYTES);
        assertEquals(Handshake.CHALLENGE, head[0]);
        byte[] challenge = stranger.hear(head[2]);
        stranger.say(Handshake.frame(Handshake.PROOF, Secret.none().proof(Role.CONNECTING, opening, challenge)));
        byte[] answer = stranger.hear(Handshake.HEAD_BYTES);
        byte[] body = stranger.hear(((answer[1] & 0xFF) << 8) | (answer[2] & 0xFF));
        if (answer[0] != Handshake.PROOF) {
            return Refusal.decoded(ByteBuffer.wrap(body));
        }
        stranger.say(Handshake.frame(Handshake.CONFIRM, new byte[0]));
        return null;
    }

    private int portOfRankOne() {
        try (Store store =
                ranks.context(GroupSpec.of("g", 2, 3, Ranks.LONG), Map.of()).store()) {
            byte[] card = store.get("g/1/card/1", Ranks.LONG);
            return Roster.RankEntry.of(new String(card, StandardCharsets.UTF_8)).port();
        }
    }

    private static void assertRefused(int port, Hello.RankPair member, String... parts) {
        try (Stranger stranger = Stranger.at(port)) {
            Refusal refusal = knock(stranger, Hello.ConnectionKind.CONTROL, member, NONE);
            assertEquals(Code.RENDEZVOUS, refusal.code());
            for (String part : parts) {
                assertTrue(refusal.getMessage().contains(part), refusal.getMessage());
            }
            assertEquals(PROVED.length, stranger.hearAll().length);
        }
    }

    @Test
    void aPeerWithADifferentIdentityIsRefusedWithTheReason() {
        ranks.joinAll(3);
        long id = new Roster(null, SPEC, null, null, null).id();
        int port = portOfRankOne();

        assertRefused(port, new Hello.RankPair(id, 0, 4, 1), "has world size 3, you have 4");
        assertRefused(port, new Hello.RankPair(id, 0, 3, 2), "this is rank 1", "you want rank 2");
        assertRefused(port, new Hello.RankPair(id, 2, 3, 1), "you say that you are rank 2");
        assertRefused(port, new Hello.RankPair(id, -1, 3, 1), "you say that you are rank -1");
        assertRefused(port, new Hello.RankPair(id, 0, 3, 1), "rank 0 of \"g\" is already connected", "two processes");
        assertRefused(port, new Hello.RankPair(id + 1, 0, 3, 1), "not joined at 127.0.0.1:" + port);
        try (Stranger stranger = Stranger.at(port)) {
            Refusal refusal = knock(stranger, Hello.ConnectionKind.STORE, new Hello.RankPair(0, 0, 3, -1), NONE);
            assertTrue(refusal.getMessage().contains("no store is served"), refusal.getMessage());
        }
    }

    @Test
    void aDataConnectionNeedsAHigherEpochThanTheOneBefore() {
        ranks.joinAll(3).get(1).register(5, recorder.inMesh());
        Hello.RankPair member = new Hello.RankPair(new Roster(null, SPEC, null, null, null).id(), 0, 3, 1);
        int port = portOfRankOne();
        try (Stranger first = Stranger.at(port);
                Stranger again = Stranger.at(port);
                Stranger higher = Stranger.at(port);
                Stranger noLane = Stranger.at(port)) {
            Hello.ConnectionKind data = Hello.ConnectionKind.DATA;
            assertEquals(null, knock(first, data, member, new Hello.ChannelIdentity(5, (byte) 1, 3)));
            Refusal refusal = knock(again, data, member, new Hello.ChannelIdentity(5, (byte) 1, 3));
            assertEquals(null, knock(higher, data, member, new Hello.ChannelIdentity(5, (byte) 1, 4)));
            Refusal lane = knock(noLane, data, member, new Hello.ChannelIdentity(5, (byte) 7, 0));

            assertEquals(Code.PROTOCOL, refusal.code());
            assertTrue(refusal.getMessage().contains("epoch 3"), refusal.getMessage());
            assertTrue(lane.getMessage().contains("lane 7"), lane.getMessage());
            assertEquals(
                    ConnectionPurpose.POINT_TO_POINT + " 3", recorder.next().text());
            assertEquals(
                    ConnectionPurpose.POINT_TO_POINT + " 4", recorder.next().text());
        }
    }

    @Test
    void aConnectionThatEndsBeforeItIsAdmittedFreesItsEpoch() throws Refusal {
        EmbeddedChannel first = new EmbeddedChannel();
        peers.admit(DATA_HELLO, first);
        Refusal refusal = refusal(DATA_HELLO);
        assertTrue(refusal.getMessage().contains("epoch 3 is already connected"), refusal.getMessage());

        first.close();

        peers.admit(DATA_HELLO, new EmbeddedChannel());
    }

    /** The end of the former may come behind the new one, and the former was never confirmed. */
    @ParameterizedTest
    @CsvSource({"CONTROL, two processes have this rank", "DATA, epoch 3 is already connected"})
    void anUnconfirmedConnectionIsReplacedOnlyByItsOwnProcess(Hello.ConnectionKind kind, String taken) throws Refusal {
        peers.hear(5, recorder.inMesh());
        EmbeddedChannel former = new EmbeddedChannel();
        EmbeddedChannel again = new EmbeddedChannel();
        peers.admit(said(kind, 1, 4), former);

        peers.admit(said(kind, 1, 5), again);

        assertFalse(former.isOpen());
        assertTrue(again.isOpen());
        Refusal late = refusal(said(kind, 1, 4));
        assertEquals(Code.TIMED_OUT, late.code());
        assertTrue(late.getMessage().contains("attempt 4 of rank 0"), late.getMessage());
        Refusal other = refusal(said(kind, 2, 6));
        assertTrue(other.getMessage().contains(taken), other.getMessage());
        assertTrue(again.isOpen());
    }

    @Test
    void anAttemptAtAnotherLaneReplacesNoConnection() throws Refusal {
        EmbeddedChannel former = new EmbeddedChannel();
        EmbeddedChannel beside = new EmbeddedChannel();
        peers.admit(said(DATA_HELLO.channel(), 4), former);

        peers.admit(said(new Hello.ChannelIdentity(5, (byte) 0, 3), 5), beside);

        assertTrue(former.isOpen());
        assertTrue(beside.isOpen());
    }

    private static Hello said(Hello.ChannelIdentity channel, int attempt) {
        Hello.AttemptId fresh = new Hello.AttemptId(1, attempt, new byte[Hello.NONCE_BYTES]);
        return new Hello(DATA_HELLO.kind(), "default", DATA_HELLO.member(), channel, NO_OPTIONS, fresh);
    }

    @Test
    void aClosedGroupKeepsNothingOfItsConnections() throws Refusal {
        peers.hear(5, recorder.inMesh());
        WeakReference<Hello> kept = enteredHello();
        assertEquals(ConnectionPurpose.POINT_TO_POINT + " 3", recorder.next().text());

        peers.unregister(5);

        for (int round = 0; round < 200 && kept.get() != null; round++) {
            System.gc();
        }
        assertNull(kept.get());
    }

    private WeakReference<Hello> enteredHello() throws Refusal {
        EmbeddedChannel channel = new EmbeddedChannel();
        Hello hello = said(DATA_HELLO.channel(), 4);
        peers.admit(hello, channel);
        peers.entered(hello, channel);
        return new WeakReference<>(hello);
    }

    private Refusal refusal(Hello hello) {
        return assertThrows(Refusal.class, () -> peers.admit(hello, new EmbeddedChannel()));
    }

    private static Hello said(Hello.ConnectionKind kind, long process, int attempt) {
        Hello.ChannelIdentity channel = kind == Hello.ConnectionKind.DATA ? DATA_HELLO.channel() : NONE;
        Hello.RankPair member = new Hello.RankPair(7, 0, 3, 1);
        Hello.AttemptId fresh = new Hello.AttemptId(process, attempt, new byte[Hello.NONCE_BYTES]);
        return new Hello(kind, "default", member, channel, NO_OPTIONS, fresh);
    }

    @Test
    void aConfirmedDataConnectionIsNotReplaced() throws Refusal {
        EmbeddedChannel confirmed = new EmbeddedChannel();
        peers.admit(said(Hello.ConnectionKind.DATA, 1, 4), confirmed);
        peers.entered(said(Hello.ConnectionKind.DATA, 1, 4), confirmed);

        Refusal refused = refusal(said(Hello.ConnectionKind.DATA, 1, 5));

        assertTrue(refused.getMessage().contains("epoch 3 is already connected"), refused.getMessage());
        assertTrue(confirmed.isOpen());
    }

    @Test
    void aPeerThatGaveUpConnectingIsReportedDespiteAnAttempt() throws Refusal {
        peers.hear(5, recorder.inMesh());
        EmbeddedChannel attempt = new EmbeddedChannel();
        peers.admit(said(Hello.ConnectionKind.DATA, 1, 4), attempt);
        Refusal gaveUp = new Refusal(Code.RENDEZVOUS, "gave up");
        peers.received(0, ControlFrame.noData(new ChannelKey(0, 5, ConnectionPurpose.POINT_TO_POINT), 3, gaveUp));

        attempt.close();

        assertEquals(Code.RENDEZVOUS, recorder.next().cause().code());
    }

    @Test
    void aConnectionThatRefusesItsOptionsFailsItsLaneOnly() throws Refusal {
        Channel unwilling = new Unwilling();
        Recorder.Heard heard = firstHeardAfter(unwilling, peers -> {});

        assertEquals("noData", heard.kind());
        assertEquals(Code.RESOURCE, heard.cause().code());
        assertTrue(heard.text().contains("POINT_TO_POINT, epoch 3, cannot be used: no such option"), heard.text());
        assertFalse(unwilling.isOpen());
    }

    @Test
    void aRefusalThatCrossesTheRequestedConnectionIsIgnored() throws Refusal {
        Refusal closed = new Refusal(Code.PEER_LOST, "rank 0 has closed group 5");
        ControlFrame refusal = ControlFrame.noData(new ChannelKey(0, 5, ConnectionPurpose.POINT_TO_POINT), 3, closed);
        Recorder.Heard heard = firstHeardAfter(new Unwilling(), peers -> peers.received(0, refusal));

        // it is what became of the connection
        assertEquals(Code.RESOURCE, heard.cause().code());
    }

    /** Lets a data connection in, does something, and lets it be used. */
    private Recorder.Heard firstHeardAfter(Channel connection, Consumer<TcpMesh> between) throws Refusal {
        peers.hear(5, recorder.inMesh());
        peers.admit(DATA_HELLO, connection);
        between.accept(peers);
        peers.entered(DATA_HELLO, connection);
        return recorder.next();
    }

    /** Takes no option. */
    private static final class Unwilling extends EmbeddedChannel {
        @Override
        public ChannelConfig config() {
            return new DefaultChannelConfig(this) {
                @Override
                public <T> boolean setOption(ChannelOption<T> option, T value) {
                    throw new ChannelException("no such option: " + option);
                }
            };
        }
    }

    @Test
    void aPeerThatSendsInvalidFramesIsLostWithProtocol() {
        // rank 0 is played by hand: rank 1 of two waits for it
        GroupSpec spec = GroupSpec.of("g", 1, 2, Ranks.LONG);
        var joining = ranks.join(1, 2, Ranks.LONG);
        try (Store store =
                ranks.context(GroupSpec.of("g", 0, 2, Ranks.LONG), Map.of()).store()) {
            byte[] card = store.get("g/1/card/1", Ranks.LONG);
            int port = Roster.RankEntry.of(new String(card, StandardCharsets.UTF_8))
                    .port();
            store.set(
                    "g/1/card/0",
                    new Roster.RankEntry("127.0.0.1", 9, 1, 1, PeerHost.UNKNOWN, "")
                            .text()
                            .getBytes(StandardCharsets.UTF_8));
            try (Stranger rankZero = Stranger.at(port)) {
                Hello.RankPair member = new Hello.RankPair(new Roster(null, spec, null, null, null).id(), 0, 2, 1);
                assertEquals(null, knock(rankZero, Hello.ConnectionKind.CONTROL, member, NONE));
                rankZero.say(ControlFrame.ready(5000).encoded());
                TcpMesh mesh = Ranks.result(joining);
                // what rank 0 has measured counts on all ranks, which have not
                assertTrue(mesh.isFar());
                mesh.register(5, recorder.inMesh());
                byte[] frame = ControlFrame.message(5, ByteBuffer.wrap(new byte[] {'x'}))
                        .encoded();
                rankZero.say(frame);
                assertEquals("x", recorder.next().text());
                frame[4] = 0x7F;

                rankZero.say(frame);

                Recorder.Heard lost = recorder.next();
                assertEquals(Code.PROTOCOL, lost.cause().code());
                assertTrue(lost.text().contains("MESSAGE with 2130706433 bytes"), lost.text());
            }
        }
    }

    @Test
    void anExceptionOfThisRankDoesNotBlameThePeer() {

        FerroException failure = peers.ownFailure(0, new NullPointerException("of the test"));

        assertEquals(Code.ABORTED, failure.code());
        assertEquals(Set.of(1), failure.where().culprits());
        assertTrue(failure.getMessage().contains("rank 1 of \"g\" failed with an exception"), failure.getMessage());
    }
}
