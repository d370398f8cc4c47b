package ferro.backend.tcp.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.backend.tcp.TcpStoreServer;
import ferro.backend.tcp.mesh.Ranks;
import ferro.backend.tcp.net.AcceptingHandshake.TlsChallenge;
import ferro.backend.tcp.net.Secret.Role;
import ferro.backend.tcp.store.StoreCodec;
import ferro.group.SystemContext;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import io.netty.channel.Channel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which peers are admitted over a real socket, and what the others receive. */
@Timeout(60)
class TcpListenerTest {
    private static final byte[] SECRET = "a secret of the job".getBytes(StandardCharsets.UTF_8);
    private static final Hello.RankPair MEMBER = new Hello.RankPair(0, 1, 4, -1);

    private static final System.Logger LOG = System.getLogger("ferro.tcp");

    private static TcpStoreServer server(byte[] secret) {
        return TcpStoreServer.start(InetAddress.getLoopbackAddress(), 0, "default", 4, secret);
    }

    private static Hello hello(byte[] secret) {
        byte[] nonce = new byte[Hello.NONCE_BYTES];
        new SecureRandom().nextBytes(nonce);
        return new Hello(
                Hello.ConnectionKind.STORE,
                "default",
                MEMBER,
                Hello.ChannelIdentity.NONE,
                new Hello.HelloOptions(secret != null, false),
                new Hello.AttemptId(1, 1, nonce));
    }

    private static Refusal refusal(Stranger stranger) {
        byte[] head = stranger.hear(Handshake.HEAD_BYTES);
        assertEquals(Handshake.REFUSAL, head[0]);
        return Refusal.decoded(ByteBuffer.wrap(stranger.hear(((head[1] & 0xFF) << 8) | (head[2] & 0xFF))));
    }

    @Test
    @DisplayName("row 27: strangers are closed at once without a word")
    void peersOfOtherProtocolsAreClosedAtOnceWithoutAnAnswer() {
        try (TcpStoreServer server = server(null)) {
            for (byte[] said : List.of(
                    "GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII),
                    new byte[] {0x16, 3, 1, 2, 0, 1, 0, 1, (byte) 0xFC, 3, 3},
                    new byte[] {0},
                    new byte[] {-1, -1, -1, -1})) {
                try (Stranger stranger = Stranger.at(server.port())) {
                    long start = System.nanoTime();
                    stranger.say(said);

                    assertEquals(0, stranger.hearAll().length);

                    assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(3), "closed too late");
                }
            }
        }
    }

    @Test
    @DisplayName("row 27: another version hears PROTOCOL and both versions")
    void aDifferentVersionIsAnsweredWithProtocolAndBothVersions() {
        try (TcpStoreServer server = server(null);
                Stranger stranger = Stranger.at(server.port())) {
            byte[] opening = hello(null).encoded();
            opening[9] = 1;
            stranger.say(opening);

            Refusal refusal = refusal(stranger);

            assertEquals(Code.PROTOCOL, refusal.code());
            assertTrue(
                    refusal.getMessage().contains("version " + Hello.VERSION + " is spoken here, yours is 1"),
                    refusal.getMessage());
        }
    }

    @Test
    void aHelloThatArrivesByteByByteIsReadAndDelaysNoOther() {
        try (TcpStoreServer server = server(SECRET);
                Stranger drip = Stranger.at(server.port())) {
            byte[] opening = hello(SECRET).encoded();
            for (byte one : opening) {
                drip.say(one);
                try (Stranger other = Stranger.at(server.port())) {
                    other.say((byte) 'G');
                    assertEquals(0, other.hearAll().length);
                }
            }
            byte[] head = drip.hear(Handshake.HEAD_BYTES);
            byte[] challenge = drip.hear(head[2]);
            byte[] proof = Secret.of(SECRET).proof(Role.CONNECTING, opening, challenge);
            for (byte one : Handshake.frame(Handshake.PROOF, proof)) {
                drip.say(one);
            }

            byte[] answer = drip.hear(Handshake.HEAD_BYTES + Secret.PROOF_BYTES);

            assertEquals(Handshake.PROOF, answer[0]);
            byte[] theirs = Arrays.copyOfRange(answer, Handshake.HEAD_BYTES, answer.length);
            assertTrue(Secret.of(SECRET).proves(Role.ACCEPTING, opening, challenge, theirs));
        }
    }

    @Test
    void aTakenPortOfARangeIsReportedWithoutSearchingForItsHolder() throws Exception {
        SocketConfig io = SocketConfig.standard();
        Credentials own = new Credentials("default", Secret.of(SECRET), new SecureRandom());
        InetAddress here = InetAddress.getLoopbackAddress();
        try (ServerSocket other = new ServerSocket(0, 1, here);
                BackgroundLoop loop = new BackgroundLoop(io, "ferro-test-net");
                TcpListener listener =
                        new TcpListener(own, nobody(), new UnauthenticatedPeerLog(LOG, System::nanoTime))) {
            InetSocketAddress taken = new InetSocketAddress(here, other.getLocalPort());

            Exception failure = assertThrows(Exception.class, () -> listener.bind(io, loop, taken));

            assertFalse(failure.getMessage().contains("is held"), failure.getMessage());
            Refusal named = TcpListener.notBound(taken, (IOException) failure);
            assertTrue(named.getMessage().contains("it is held: " + taken.getPort()), named.getMessage());
        }
    }

    @Test
    void aPortOfAnotherMachineIsNotReportedAsHeldLocally() throws Exception {
        try (ServerSocket everywhere = new ServerSocket(0)) {
            InetSocketAddress elsewhere = new InetSocketAddress(Ranks.address("192.0.2.7"), everywhere.getLocalPort());

            String text = TcpListener.notBound(elsewhere, new IOException("cannot assign"))
                    .getMessage();

            assertTrue(text.endsWith("(cannot assign): the address does not belong to this machine"), text);
        }
    }

    /** 192.0.2.7 is reserved for documentation (RFC 5737), so no machine has it. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void anAddressOfAnotherMachineIsRefusedWithTheSettingToUse(boolean servesStore) {
        SocketConfig io = SocketConfig.standard();
        InetAddress service = Ranks.address("192.0.2.7");
        RankContext context = SystemContext.of(Map.of(Settings.TCP_PORT.name(), "29600-29601"));
        PortCandidates ports = PortCandidates.of(context, 29_500, servesStore);
        Credentials own = new Credentials("default", Secret.of(SECRET), new SecureRandom());
        try (BackgroundLoop loop = new BackgroundLoop(io, "ferro-test-net");
                TcpListener listener =
                        new TcpListener(own, nobody(), new UnauthenticatedPeerLog(LOG, System::nanoTime))) {
            IOException failure = assertThrows(
                    IOException.class,
                    () -> ports.firstFree(port -> listener.bind(io, loop, new InetSocketAddress(service, port))));

            String text = ports.noneFree(service, failure).getMessage();

            assertTrue(text.contains("the address does not belong to this machine; "), text);
            assertTrue(text.endsWith("set ferro.tcp.bind=0.0.0.0 for this rank"), text);
        }
    }

    private static TcpListener.ConnectionReceiver nobody() {
        return new TcpListener.ConnectionReceiver() {
            @Override
            public void admit(Hello hello, Channel channel) throws Refusal {
                throw new Refusal(Code.RENDEZVOUS, "nobody is expected");
            }

            @Override
            public void entered(Hello hello, Channel channel) {
                channel.close();
            }
        };
    }

    @Test
    void aWrongProofIsAnsweredWithUnauthenticated() {
        try (TcpStoreServer server = server(SECRET);
                Stranger stranger = Stranger.at(server.port())) {
            stranger.say(hello(SECRET).encoded());
            byte[] head = stranger.hear(Handshake.HEAD_BYTES);
            stranger.hear(head[2]);
            stranger.say(Handshake.frame(Handshake.PROOF, new byte[Secret.PROOF_BYTES]));

            assertEquals(Code.UNAUTHENTICATED, refusal(stranger).code());
            assertEquals(0, stranger.hearAll().length);
        }
    }

    @Test
    void aConnectionToARankIsRefusedByAStoreWithTheReason() {
        try (TcpStoreServer server = server(null);
                Stranger stranger = Stranger.at(server.port())) {
            Hello store = hello(null);
            byte[] opening = new Hello(
                            Hello.ConnectionKind.CONTROL,
                            store.job(),
                            new Hello.RankPair(9, 1, 4, 3),
                            store.channel(),
                            store.options(),
                            store.attempt())
                    .encoded();
            stranger.say(opening);
            byte[] head = stranger.hear(Handshake.HEAD_BYTES);
            byte[] challenge = stranger.hear(head[2]);
            stranger.say(Handshake.frame(Handshake.PROOF, Secret.none().proof(Role.CONNECTING, opening, challenge)));

            Refusal refusal = refusal(stranger);

            assertEquals(Code.RENDEZVOUS, refusal.code());
            assertTrue(refusal.getMessage().contains("rank 3"), refusal.getMessage());
        }
    }

    @Test
    void theOldestSilentConnectionIsClosedIfTooManyWait() {
        try (TcpStoreServer server = server(SECRET);
                Stranger honest = Stranger.at(server.port())) {
            honest.say(hello(SECRET).encoded());
            assertEquals(Handshake.CHALLENGE, honest.hear(Handshake.HEAD_BYTES + TlsChallenge.BYTES)[0]);
            List<Stranger> silent = new ArrayList<>();
            for (int i = 0; i < 64; i++) {
                silent.add(Stranger.at(server.port()));
            }
            long start = System.nanoTime();

            assertEquals(0, silent.get(0).hearAll().length);

            assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(3), "waited for its own deadline");
            honest.say(Handshake.frame(Handshake.PROOF, new byte[Secret.PROOF_BYTES]));
            assertEquals(Code.UNAUTHENTICATED, refusal(honest).code());
            silent.forEach(Stranger::close);
        }
    }

    @Test
    void aStoreListensOnlyOnItsOwnAddress() {
        try (TcpStoreServer server = server(SECRET)) {
            Stranger.to("127.0.0.1", server.port()).close();

            assertThrows(UncheckedIOException.class, () -> Stranger.to("127.0.0.2", server.port()));
        }
    }

    /** The one that has said nothing yet is older than all others: only where it comes from speaks for it. */
    @Test
    void anAddressThatFillsTheLimitLosesOnlyItsOwnConnections() {
        try (TcpStoreServer server = server(SECRET);
                Stranger slow = Stranger.from("127.0.0.2", server.port())) {
            List<Stranger> crowd = new ArrayList<>();
            for (int i = 0; i < 3 * TcpListener.FEWEST_PENDING; i++) {
                crowd.add(Stranger.at(server.port()));
            }
            assertEquals(0, crowd.get(0).hearAll().length);

            slow.say(hello(SECRET).encoded());

            assertEquals(Handshake.CHALLENGE, slow.hear(Handshake.HEAD_BYTES + TlsChallenge.BYTES)[0]);
            crowd.forEach(Stranger::close);
        }
    }

    /** Where the limit counts from the last byte, a handshake that drips gets to its end: the proof here after seven seconds. */
    @Tag("large")
    @Test
    void silentAndSlowConnectionsAreRefusedAfterFiveSeconds() {
        long start = System.nanoTime();
        try (TcpStoreServer server = server(null);
                Stranger mute = Stranger.at(server.port());
                Stranger silent = Stranger.at(server.port());
                Stranger inItsHello = Stranger.at(server.port());
                Stranger inItsProof = Stranger.at(server.port())) {
            byte[] opening = hello(null).encoded();
            silent.say(opening[0]);
            inItsProof.say(opening);
            byte[] challenge = inItsProof.hear(Handshake.HEAD_BYTES + TlsChallenge.BYTES);
            assertEquals(Handshake.CHALLENGE, challenge[0]);
            byte[] proof = Handshake.frame(Handshake.PROOF, new byte[Secret.PROOF_BYTES]);
            for (int said = 0; !inItsProof.hears(100); said++) {
                inItsProof.say(proof[said]);
                if (!inItsHello.hears(100)) {
                    inItsHello.say(opening[said]);
                }
            }

            for (Stranger stranger : List.of(mute, silent, inItsHello, inItsProof)) {
                Refusal refusal = refusal(stranger);
                assertEquals(Code.TIMED_OUT, refusal.code());
                assertEquals("the handshake did not end within 5000 ms", refusal.getMessage());
                assertEquals(0, stranger.hearAll().length);
            }
            long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
            assertTrue(millis >= 5_000 && millis < 12_000, millis + " ms");
        }
    }

    @Test
    void aTooLongRequestEndsOnlyItsOwnConnection() {
        try (TcpStoreServer server = server(null);
                Stranger stranger = Stranger.letIn(server.port(), hello(null))) {
            stranger.say(ByteBuffer.allocate(StoreCodec.REQUEST_HEAD_BYTES)
                    .put((byte) 1)
                    .put((byte) 0)
                    .putShort((short) 3)
                    .putInt(1)
                    .putInt(Integer.MAX_VALUE)
                    .array());

            ByteBuffer answer = ByteBuffer.wrap(stranger.hearAll());

            assertEquals(0, answer.getInt());
            answer.position(StoreCodec.ANSWER_HEAD_BYTES);
            Refusal refusal = Refusal.decoded(answer);
            assertEquals(Code.PROTOCOL, refusal.code());
            assertTrue(refusal.getMessage().contains("2147483647"), refusal.getMessage());
        }
    }

    @Test
    void anOpenAddressWithoutASecretIsRefusedWithTheRemedy() {
        InetAddress any = Ranks.address("0.0.0.0");

        var failure = assertThrows(FerroException.class, () -> TcpStoreServer.start(any, 0, "default", 4, null));

        assertEquals(Code.UNAUTHENTICATED, failure.code());
        assertTrue(failure.getMessage().contains("FERRO_SECRET_FILE"), failure.getMessage());
        try (TcpStoreServer open = TcpStoreServer.start(any, 0, "default", 4, SECRET)) {
            assertTrue(open.port() > 0);
        }
    }

    @Test
    @DisplayName("row 25: a port that is taken is named")
    void aPortThatIsTakenIsNamed() {
        try (TcpStoreServer first = server(null)) {
            InetAddress loopback = InetAddress.getLoopbackAddress();

            var failure = assertThrows(
                    FerroException.class, () -> TcpStoreServer.start(loopback, first.port(), "default", 4, null));

            assertEquals(Code.RENDEZVOUS, failure.code());
            assertTrue(failure.getMessage().contains(":" + first.port()), failure.getMessage());
            assertEquals(Where.of("", -1).rank(), failure.where().rank());
        }
    }
}
