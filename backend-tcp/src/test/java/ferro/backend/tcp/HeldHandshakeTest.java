package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.ReduceOp;
import ferro.backend.tcp.net.TcpProxy;
import ferro.backend.tcp.net.TcpProxy.AnswerPoint;
import ferro.group.ProcessGroup;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Ranks that give an attempt to connect up, and connect again, while the other side still has the attempt. */
@Timeout(120)
class HeldHandshakeTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    /** Attempts whose answers are held back. */
    private static final int HELD = 2;
    /** Bytes of the challenge, and of the accepting side's proof behind it, with their heads. */
    private static final int CHALLENGE_BYTES = 68;

    private static final int PROOF_BYTES = 35;
    /** More than the record by which TLS lets the connecting side in, and fewer than the flight of TLS before it. */
    private static final int LET_IN_BELOW = 100;

    static Stream<Arguments> heldAnswers() {
        AnswerPoint challenge = (data, from, length) -> from == 0;
        AnswerPoint proof = (data, from, length) -> from == CHALLENGE_BYTES;
        AnswerPoint letIn = (data, from, length) -> from > CHALLENGE_BYTES + PROOF_BYTES && length < LET_IN_BELOW;
        return Stream.of(
                Arguments.of("off", "challenge", challenge),
                Arguments.of("off", "proof", proof),
                Arguments.of("on", "challenge", challenge),
                Arguments.of("on", "proof", proof),
                Arguments.of("on", "let in", letIn));
    }

    private static Map<String, String> settings(String tls, Map<String, String> more) {
        Map<String, String> settings = new HashMap<>(more);
        settings.put("ferro.links", "tcp");
        settings.put("ferro.tls", tls);
        settings.put("ferro.tcp.handshake.timeout", "200ms");
        return settings;
    }

    @ParameterizedTest(name = "tls {0}, {1}")
    @MethodSource("heldAnswers")
    void aGroupIsJoinedByALaterAttemptIfAnswersAreLate(String tls, String name, AnswerPoint point) throws IOException {
        CountDownLatch until = new CountDownLatch(1);
        try (TcpProxy proxy = new TcpProxy();
                TcpJob job = new TcpJob(2, TIMEOUT, TcpJob.encrypted(Map.of()))) {
            proxy.holdAnswers(HELD, point, until);
            List<ProcessGroup> ranks =
                    job.joinAll("g", List.of(settings(tls, Map.of()), settings(tls, proxy.settings())));

            assertEquals(0, proxy.answersToHold());
            assertSums(ranks, 1);
            // the old answers and ends come now
            until.countDown();
            assertSums(ranks, 2);
        } finally {
            until.countDown();
        }
    }

    @ParameterizedTest(name = "tls {0}, {1}")
    @MethodSource("heldAnswers")
    void aDataConnectionIsMadeByALaterAttemptWithoutLosingBytes(String tls, String name, AnswerPoint point)
            throws IOException {
        CountDownLatch until = new CountDownLatch(1);
        try (TcpProxy proxy = new TcpProxy();
                TcpJob job = new TcpJob(2, TIMEOUT, TcpJob.encrypted(Map.of()))) {
            List<ProcessGroup> ranks =
                    job.joinAll("g", List.of(settings(tls, Map.of()), settings(tls, proxy.settings())));
            proxy.holdAnswers(HELD, (data, from, length) -> data && point.isAt(data, from, length), until);

            assertSums(ranks, 1);
            assertEquals(0, proxy.answersToHold());
            until.countDown();
            assertSums(ranks, 2);
            assertTrue(proxy.allDataConnections() > HELD, proxy.allDataConnections() + " data connections");
        } finally {
            until.countDown();
        }
    }

    private static void assertSums(List<ProcessGroup> ranks, int factor) {
        List<float[]> sums = TcpJob.onAll(ranks, group -> {
            float[] data = new float[10_000];
            for (int i = 0; i < data.length; i++) {
                data[i] = factor * (i + 1f) * (group.rank() + 1);
            }
            group.allReduce(data, ReduceOp.SUM);
            return data;
        });
        float[] expected = new float[10_000];
        for (int i = 0; i < expected.length; i++) {
            expected[i] = factor * (i + 1f) * 3;
        }
        sums.forEach(sum -> assertArrayEquals(expected, sum));
    }

    /**
     * Each answer comes after four fifths of the limit on every connection, and a handshake with TLS takes three times the
     * limit. All times are a tenth of those of a link with 2 s each way and the default limit.
     */
    @ParameterizedTest(name = "tls {0}")
    @ValueSource(strings = {"off", "on"})
    @Tag("long")
    @Timeout(300)
    void aGroupIsJoinedOverALinkThatIsSlowerThanTheLimit(String tls) throws IOException {
        try (TcpProxy proxy = new TcpProxy();
                TcpJob job = new TcpJob(2, TIMEOUT.multipliedBy(2), TcpJob.encrypted(Map.of()))) {
            proxy.delay(Duration.ofMillis(200));
            Map<String, String> own = settings(tls, Map.of());
            own.put("ferro.tcp.handshake.timeout", "500ms");
            Map<String, String> behind = settings(tls, proxy.settings());
            behind.put("ferro.tcp.handshake.timeout", "500ms");

            assertEquals(2, job.joinAll("g", List.of(own, behind)).size());
        }
    }

    /** The limit is so small that most connections take several attempts. */
    @ParameterizedTest(name = "tls {0}")
    @ValueSource(strings = {"off", "on"})
    @Tag("long")
    @Timeout(300)
    void manyRanksJoinAlthoughMostConnectionsNeedSeveralAttempts(String tls) {
        int ranks = 32;
        Map<String, String> hasty = settings(tls, Map.of());
        hasty.put("ferro.tcp.handshake.timeout", tls.equals("on") ? "50ms" : "1ms");
        try (TcpJob job = new TcpJob(ranks, TIMEOUT, TcpJob.encrypted(Map.of()))) {
            for (int round = 0; round < 2; round++) {
                List<ProcessGroup> groups =
                        new ArrayList<>(job.joinAll("g" + round, Collections.nCopies(ranks, hasty)));
                List<Float> sums = TcpJob.onAll(groups, group -> {
                    float[] one = {group.rank() + 1};
                    group.allReduce(one, ReduceOp.SUM);
                    return one[0];
                });
                sums.forEach(sum -> assertEquals(ranks * (ranks + 1) / 2f, sum));
                TcpJob.runOnAll(groups, ProcessGroup::close);
            }
        }
    }
}
