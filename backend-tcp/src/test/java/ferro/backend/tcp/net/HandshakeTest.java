package ferro.backend.tcp.net;

import static ferro.backend.tcp.mesh.Ranks.assertRefused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException.Code;
import ferro.backend.tcp.net.AcceptingHandshake.TlsChallenge;
import ferro.backend.tcp.net.Secret.Role;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Both sides of the handshake without sockets. */
class HandshakeTest {
    private static final AcceptingHandshake.AdmissionPolicy OPEN = hello -> {};
    private static final Hello.RankPair MEMBER = new Hello.RankPair(0x1234_5678_9ABC_DEFL, 1, 3, 2);

    private static Credentials credentials(String job, String secret) {
        Secret known = secret == null ? Secret.none() : Secret.of(secret.getBytes(StandardCharsets.UTF_8));
        return new Credentials(job, known, new SecureRandom());
    }

    private static Hello hello(Credentials own) {
        Hello.ChannelIdentity channel = new Hello.ChannelIdentity(-42, (byte) 1, 7);
        return new Hello(
                Hello.ConnectionKind.DATA,
                own.job(),
                MEMBER,
                channel,
                new Hello.HelloOptions(own.secret().present(), false),
                new Hello.AttemptId(0x0FED_CBA9_8765_4321L, 0x1234_5678, 0x0765_4321, own.nonce()));
    }

    /** Passes on what one side says, in exactly the pieces that the other wants. */
    private static void talk(Handshake from, byte[] said, Handshake to) throws Refusal {
        ByteBuffer bytes = ByteBuffer.wrap(said);
        while (bytes.hasRemaining()) {
            byte[] piece = new byte[to.wanted()];
            bytes.get(piece);
            byte[] answer = to.take(ByteBuffer.wrap(piece));
            if (answer.length > 0) {
                talk(to, answer, from);
            }
        }
    }

    private static Refusal refusal(Credentials connecting, Credentials accepting) {
        AcceptingHandshake server = new AcceptingHandshake(accepting, OPEN);
        ConnectingHandshake client = new ConnectingHandshake(connecting, hello(connecting));
        return assertThrows(Refusal.class, () -> talk(client, client.opening(), server));
    }

    @Test
    void bothSidesWithOneSecretFinishAndTheHelloArrivesUnchanged() throws Refusal {
        for (String secret : new String[] {null, "s3cret"}) {
            Credentials own = credentials("job", secret);
            AcceptingHandshake server = new AcceptingHandshake(own, OPEN);
            Hello said = hello(own);
            ConnectingHandshake client = new ConnectingHandshake(own, said);

            talk(client, client.opening(), server);

            assertEquals(0, server.wanted());
            assertEquals(0, client.wanted());
            assertEquals(Hello.ConnectionKind.DATA, server.hello().kind());
            assertEquals(MEMBER, server.hello().member());
            assertEquals(said.channel(), server.hello().channel());
            assertEquals(said.attempt().process(), server.hello().attempt().process());
            assertEquals(said.attempt().number(), server.hello().attempt().number());
            assertEquals(
                    said.attempt().answerLimitMillis(), server.hello().attempt().answerLimitMillis());
            assertArrayEquals(said.attempt().nonce(), server.hello().attempt().nonce());
        }
    }

    private static Credentials tls(TlsPolicy.TlsMode use) {
        TlsPolicy policy = TlsPolicy.of(use, "job", "rank/1");
        return new Credentials("job", Secret.of(new byte[] {1, 2, 3}), new SecureRandom(), policy);
    }

    private static ConnectingHandshake encrypts(Credentials own) {
        return new ConnectingHandshake(own, hello(own), own.tls().identity());
    }

    @Test
    void encryptionUsesTheKeysThatTheProofsCover() throws Exception {
        Credentials connecting = tls(TlsPolicy.TlsMode.AUTO);
        AcceptingHandshake server = new AcceptingHandshake(tls(TlsPolicy.TlsMode.AUTO), OPEN, false);
        ConnectingHandshake client = encrypts(connecting);

        talk(client, client.opening(), server);
        for (int flight = 0; flight < 4; flight++) {
            client.tls().shake();
            TlsPair.move(client.tls(), server.tls());
            server.tls().shake();
            TlsPair.move(server.tls(), client.tls());
        }

        assertTrue(client.tls().isOver() && server.tls().isOver());
    }

    @Test
    @DisplayName("nobody in between can clear the bit that asks for TLS, or change a key")
    void aRelayCannotClearTheTlsBitOrChangeAKey() throws Refusal {
        for (int place : new int[] {14, 96, 116, -1, -2}) {
            Credentials own = tls(TlsPolicy.TlsMode.AUTO);
            AcceptingHandshake server = new AcceptingHandshake(own, OPEN, true);
            ConnectingHandshake client = encrypts(own);
            byte[] opening = client.opening().clone();
            opening[Math.max(place, 0)] ^= (byte) (place < 0 ? 0 : 4);
            server.take(ByteBuffer.wrap(opening, 0, Hello.PREFIX_BYTES));
            byte[] challenge =
                    server.take(ByteBuffer.wrap(opening, Hello.PREFIX_BYTES, opening.length - Hello.PREFIX_BYTES)
                            .slice());
            // the bits of the challenge, or the first byte of its key
            challenge[Handshake.HEAD_BYTES + Hello.NONCE_BYTES + Math.max(0, -1 - place)] ^= (byte) (place < 0 ? 2 : 0);

            assertThrows(Refusal.class, () -> talk(server, challenge, client), "byte " + place);
            assertEquals(null, server.tls());
        }
    }

    @Test
    void aConnectionIsUnencryptedOnlyIfBothSidesAreLocal() throws Refusal {
        Credentials own = tls(TlsPolicy.TlsMode.AUTO);
        AcceptingHandshake local = new AcceptingHandshake(own, OPEN, true);
        ConnectingHandshake plain = new ConnectingHandshake(own, hello(own));
        talk(plain, plain.opening(), local);
        assertEquals(null, plain.tls());
        assertEquals(null, local.tls());

        ConnectingHandshake refused = new ConnectingHandshake(own, hello(own));
        AcceptingHandshake far = new AcceptingHandshake(own, OPEN, false);
        assertThrows(Refusal.class, () -> talk(refused, refused.opening(), far));
        assertTrue(refused.askedForTls());
    }

    @Test
    void aSideThatSkipsTlsIsRefusedDespiteItsValidProof() throws Refusal {
        Credentials own = tls(TlsPolicy.TlsMode.AUTO);
        AcceptingHandshake far = new AcceptingHandshake(own, OPEN, false);
        byte[] opening = hello(own).encoded();
        far.take(ByteBuffer.wrap(opening, 0, Hello.PREFIX_BYTES));
        byte[] frame = far.take(ByteBuffer.wrap(opening, Hello.PREFIX_BYTES, opening.length - Hello.PREFIX_BYTES)
                .slice());
        byte[] challenge = java.util.Arrays.copyOfRange(frame, Handshake.HEAD_BYTES, frame.length);
        byte[] proof = Handshake.frame(Handshake.PROOF, own.secret().proof(Role.CONNECTING, opening, challenge));

        Refusal refusal = assertThrows(Refusal.class, () -> far.take(ByteBuffer.wrap(proof)));
        assertEquals(Code.PROTOCOL, refusal.code());
    }

    @Test
    void differentTlsSettingsAreRefusedAndAStoreAdaptsToItsRanks() throws Refusal {
        Credentials off = tls(TlsPolicy.TlsMode.OFF);
        Credentials on = tls(TlsPolicy.TlsMode.ON);
        ConnectingHandshake encrypts = encrypts(on);
        assertRefused(
                Refusal.class,
                () -> talk(encrypts, encrypts.opening(), new AcceptingHandshake(off, OPEN, true)),
                "TLS is off at the accepting side");

        Hello none = new Hello(
                Hello.ConnectionKind.STORE,
                "job",
                MEMBER,
                Hello.ChannelIdentity.NONE,
                new Hello.HelloOptions(true, false, Hello.TlsPreference.PLAIN),
                new Hello.AttemptId(1, 1, off.nonce()));
        ConnectingHandshake plain = new ConnectingHandshake(off, none);
        assertRefused(
                Refusal.class,
                () -> talk(plain, plain.opening(), new AcceptingHandshake(on, OPEN, true)),
                "TLS is on at the accepting side");

        AcceptingHandshake follows = new AcceptingHandshake(tls(TlsPolicy.TlsMode.FOLLOW), OPEN, false);
        ConnectingHandshake again = new ConnectingHandshake(off, none);
        talk(again, again.opening(), follows);
        assertEquals(0, follows.wanted());
        assertEquals(null, follows.tls());
    }

    @Test
    void aWrongSecretIsUnauthenticatedBeforeTheHelloIsAdmitted() {
        Credentials accepting = credentials("job", "right");
        AcceptingHandshake server = new AcceptingHandshake(accepting, hello -> {
            throw new AssertionError("admitted " + hello);
        });
        Credentials connecting = credentials("job", "wrong");
        ConnectingHandshake client = new ConnectingHandshake(connecting, hello(connecting));

        Refusal refusal = assertThrows(Refusal.class, () -> talk(client, client.opening(), server));

        assertEquals(Code.UNAUTHENTICATED, refusal.code());
        assertTrue(refusal.getMessage().contains("FERRO_SECRET_FILE"), refusal.getMessage());
        assertFalse(refusal.getMessage().contains("right"), refusal.getMessage());
    }

    @Test
    void aSecretOnOneSideOnlyIsRefusedWithTheSideThatHasIt() {
        Refusal server = refusal(credentials("job", null), credentials("job", "secret"));
        Refusal client = refusal(credentials("job", "secret"), credentials("job", null));

        assertEquals(Code.UNAUTHENTICATED, server.code());
        assertTrue(server.getMessage().contains("accepting side has a secret"), server.getMessage());
        assertEquals(Code.UNAUTHENTICATED, client.code());
        assertTrue(client.getMessage().contains("accepting side has no secret"), client.getMessage());
    }

    @Test
    @DisplayName("row 25: another job is refused by the handshake, both named")
    void aDifferentJobIsRefusedWithBothNames() {
        Refusal refusal = refusal(credentials("mine", "s"), credentials("theirs", "s"));

        assertEquals(Code.RENDEZVOUS, refusal.code());
        assertTrue(refusal.getMessage().contains("\"theirs\""), refusal.getMessage());
        assertTrue(refusal.getMessage().contains("\"mine\""), refusal.getMessage());
    }

    @Test
    @DisplayName("row 27: another version is refused before the rest is read")
    void aDifferentVersionIsRefusedBeforeTheRestIsRead() {
        Credentials own = credentials("job", null);
        byte[] opening = hello(own).encoded();
        opening[9] = 99;
        AcceptingHandshake server = new AcceptingHandshake(own, OPEN);

        Refusal refusal =
                assertThrows(Refusal.class, () -> server.take(ByteBuffer.wrap(opening, 0, Hello.PREFIX_BYTES)));

        assertEquals(Code.PROTOCOL, refusal.code());
        assertTrue(refusal.getMessage().contains("yours is 99"), refusal.getMessage());
    }

    @Test
    void aTooLongHelloIsRefusedByItsPrefix() {
        byte[] opening = hello(credentials("job", null)).encoded();
        opening[10] = (byte) 0xFF;

        Refusal refusal =
                assertThrows(Refusal.class, () -> Hello.following(ByteBuffer.wrap(opening, 0, Hello.PREFIX_BYTES)));

        assertEquals(Code.PROTOCOL, refusal.code());
    }

    @Test
    @DisplayName("row 27: text protocols and TLS are not plausible from their first byte")
    void otherProtocolsAreDetectedByTheirFirstByte() {
        AcceptingHandshake server = new AcceptingHandshake(credentials("job", null), OPEN);
        byte[] opening = hello(credentials("job", null)).encoded();

        assertFalse(server.plausible("GET / HTTP/1.1".getBytes(StandardCharsets.US_ASCII), 1));
        assertFalse(server.plausible(new byte[] {0x16, 3, 1, 2, 0}, 5));
        assertFalse(server.plausible(new byte[] {(byte) 0xF3, 'f', 'e', 'x'}, 4));
        assertTrue(server.plausible(opening, 1));
        assertTrue(server.plausible(opening, Hello.PREFIX_BYTES));
    }

    @Test
    void aProofThatIsSentBackIsNotAccepted() throws Refusal {
        Credentials own = credentials("job", "secret");
        ConnectingHandshake client = new ConnectingHandshake(own, hello(own));
        byte[] challenge = new byte[TlsChallenge.BYTES];
        challenge[Hello.NONCE_BYTES] = 1;
        byte[] frame = Handshake.frame(Handshake.CHALLENGE, challenge);
        client.take(ByteBuffer.wrap(frame, 0, Handshake.HEAD_BYTES));
        byte[] proof = client.take(
                ByteBuffer.wrap(frame, Handshake.HEAD_BYTES, challenge.length).slice());
        client.take(ByteBuffer.wrap(proof, 0, Handshake.HEAD_BYTES));

        Refusal refusal = assertThrows(
                Refusal.class,
                () -> client.take(ByteBuffer.wrap(proof, Handshake.HEAD_BYTES, Secret.PROOF_BYTES)
                        .slice()));

        assertEquals(Code.UNAUTHENTICATED, refusal.code());
    }

    @Test
    void aProofOfAnotherConnectionIsNotAccepted() throws Refusal {
        Credentials own = credentials("job", "secret");
        byte[] opening = hello(own).encoded();
        byte[][] proofs = new byte[2][];
        for (int i = 0; i < 2; i++) {
            AcceptingHandshake server = new AcceptingHandshake(own, OPEN);
            server.take(ByteBuffer.wrap(opening, 0, Hello.PREFIX_BYTES));
            byte[] frame = server.take(ByteBuffer.wrap(opening, Hello.PREFIX_BYTES, opening.length - Hello.PREFIX_BYTES)
                    .slice());
            byte[] challenge = java.util.Arrays.copyOfRange(frame, Handshake.HEAD_BYTES, frame.length);
            proofs[i] = own.secret().proof(Role.CONNECTING, opening, challenge);
            byte[] said = Handshake.frame(Handshake.PROOF, proofs[0]);
            if (i == 0) {
                server.take(ByteBuffer.wrap(said));
                assertTrue(server.awaitsConfirmation());
            } else {
                Refusal refusal = assertThrows(Refusal.class, () -> server.take(ByteBuffer.wrap(said)));
                assertEquals(Code.UNAUTHENTICATED, refusal.code());
            }
        }
        assertFalse(java.util.Arrays.equals(proofs[0], proofs[1]));
    }

    @Test
    void theProofCoversEveryByteOfTheHello() throws Refusal {
        Credentials own = credentials("job", "secret");
        byte[] opening = hello(own).encoded();
        byte[] challenge = new byte[TlsChallenge.BYTES];
        byte[] proof = own.secret().proof(Role.CONNECTING, opening, challenge);
        assertTrue(own.secret().proves(Role.CONNECTING, opening, challenge, proof));

        for (int at = 0; at < opening.length; at++) {
            opening[at] ^= 1;
            assertFalse(own.secret().proves(Role.CONNECTING, opening, challenge, proof), "byte " + at);
            opening[at] ^= 1;
        }
        assertFalse(own.secret().proves(Role.ACCEPTING, opening, challenge, proof));
        assertEquals("secret(present)", own.secret().toString());
    }

    @Test
    void aRefusalIsSentWithCodeAndShortTextWithoutLineBreaks() {
        Refusal said = new Refusal(Code.RENDEZVOUS, "first\nsecond " + "x".repeat(1000));

        Refusal heard = Refusal.decoded(ByteBuffer.wrap(said.encoded()));

        assertEquals(Code.RENDEZVOUS, heard.code());
        assertTrue(heard.getMessage().startsWith("first?second x"), heard.getMessage());
        assertTrue(said.encoded().length <= Hello.MOST_BYTES - Handshake.HEAD_BYTES);
        assertEquals(Refusal.MOST_TEXT_BYTES, heard.getMessage().length());
    }

    @Test
    void anAnswerOfAnotherProtocolIsReportedAsSuch() {
        Credentials own = credentials("job", null);
        ConnectingHandshake client = new ConnectingHandshake(own, hello(own));

        Refusal refusal = assertThrows(
                Refusal.class, () -> client.take(ByteBuffer.wrap("HTTP".getBytes(StandardCharsets.US_ASCII), 0, 3)));

        assertEquals(Code.PROTOCOL, refusal.code());
        assertTrue(refusal.getMessage().contains("something other than ferro"), refusal.getMessage());
    }
}
