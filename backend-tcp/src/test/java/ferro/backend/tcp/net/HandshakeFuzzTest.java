package ferro.backend.tcp.net;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Bytes that Jazzer makes up, as the first thing that comes over a new connection, on either side of it. */
class HandshakeFuzzTest {
    private static final Secret SECRET = Secret.of("a secret of the test".getBytes(StandardCharsets.UTF_8));

    static Stream<byte[]> openings() {
        return Stream.of(TlsPolicy.TlsMode.values())
                .map(use -> new ConnectingHandshake(credentials(use), hello(use)).opening());
    }

    static Stream<byte[]> answers() throws Refusal {
        Stream.Builder<byte[]> all = Stream.builder();
        for (TlsPolicy.TlsMode use : TlsPolicy.TlsMode.values()) {
            AcceptingHandshake accepting = new AcceptingHandshake(credentials(use), hello -> {});
            ByteBuffer opening = ByteBuffer.wrap(new ConnectingHandshake(credentials(use), hello(use)).opening());
            accepting.take(piece(opening, accepting.wanted()));
            all.add(accepting.take(piece(opening, accepting.wanted())));
        }
        all.add(Handshake.frame(Handshake.REFUSAL, new Refusal(ferro.FerroException.Code.RENDEZVOUS, "no").encoded()));
        return all.build();
    }

    @MethodSource("openings")
    @FuzzTest(maxDuration = "1m")
    void anyHelloIsRefusedOrAnsweredWithAChallenge(byte[] bytes) {
        AcceptingHandshake accepting = new AcceptingHandshake(credentials(TlsPolicy.TlsMode.AUTO), hello -> {
            throw new AssertionError("entered without the secret: " + hello);
        });
        take(accepting, ByteBuffer.wrap(bytes));
        Hello said = accepting.said();
        if (said != null && new String(bytes, StandardCharsets.UTF_8).indexOf('\uFFFD') < 0) {
            assertEquals(said.toString(), again(said).toString());
        }
    }

    /** Gives a side what it wants until there is no more, or it refuses. */
    static void take(Handshake side, ByteBuffer bytes) {
        try {
            while (side.wanted() > 0 && bytes.remaining() >= side.wanted()) {
                ByteBuffer next = piece(bytes, side.wanted());
                if (!side.plausible(next.array(), next.remaining())) {
                    return;
                }
                byte[] answer = side.take(next);
                assertTrue(answer.length <= Hello.MOST_BYTES, "an answer of " + answer.length + " bytes");
            }
        } catch (Refusal refused) {
            assertTrue(refused.encoded().length <= Hello.MOST_BYTES, "a refusal of " + refused.encoded().length);
            assertArrayEquals(
                    new String[0],
                    refused.getMessage()
                            .codePoints()
                            .filter(Character::isISOControl)
                            .mapToObj(Integer::toString)
                            .toArray(String[]::new),
                    "control characters in " + refused.getMessage());
        }
    }

    private static Hello again(Hello said) {
        ByteBuffer bytes = ByteBuffer.wrap(said.encoded());
        try {
            return Hello.decoded(bytes.position(Hello.PREFIX_BYTES));
        } catch (Refusal refused) {
            throw new AssertionError(said + " is refused when it is written again", refused);
        }
    }

    private static ByteBuffer piece(ByteBuffer from, int bytes) {
        byte[] piece = new byte[bytes];
        from.get(piece);
        return ByteBuffer.wrap(piece);
    }

    static Credentials credentials(TlsPolicy.TlsMode use) {
        return new Credentials("job", SECRET, new java.security.SecureRandom(), TlsPolicy.of(use, "job", "rank/0"));
    }

    static Hello hello(TlsPolicy.TlsMode use) {
        Credentials own = credentials(use);
        return new Hello(
                Hello.ConnectionKind.DATA,
                own.job(),
                new Hello.RankPair(7, 1, 3, 0),
                new Hello.ChannelIdentity(-42, (byte) 1, 7),
                new Hello.HelloOptions(true, false),
                new Hello.AttemptId(-3, 9, own.nonce()));
    }
}
