package ferro.integration;

import static ferro.integration.ObjectReductionsTest.JOINED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.ReduceOp;
import ferro.group.Codec;
import ferro.group.GroupObjects;
import ferro.group.ProcessGroup;
import ferro.harness.Medium;
import ferro.harness.Ranks;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Collectives on objects, over every medium (one rank alone needs none); after every refusal the group makes another call.
 */
class GroupObjectsTest extends ObjectRanks {
    private static final Codec<String> UTF8 = Codec.utf8();

    /** What a codec throws here, as a user's would. */
    private static final class OddText extends RuntimeException {
        private static final long serialVersionUID = 1L;

        OddText(String message) {
            super(message);
        }
    }

    private static String text(int rank) {
        return "räng " + "x".repeat(1000 * rank) + rank;
    }

    private static List<String> texts(int worldSize) {
        return IntStream.range(0, worldSize).mapToObj(GroupObjectsTest::text).toList();
    }

    @ParameterizedTest(name = "{1} ranks over {0}")
    @MethodSource("groups")
    void messagesOfObjectsComeFromAnyRank(String medium, int worldSize) {
        ranks = Ranks.over(medium, worldSize);
        List<Object> outcomes = outcomes(ranks, group -> {
            GroupObjects<String> texts = group.objects(UTF8);
            texts.send(text(group.rank()).repeat(100), 0, 4);
            if (group.rank() > 0) {
                return List.of();
            }
            String[] received = new String[worldSize];
            for (int count = 0; count < worldSize; count++) {
                GroupObjects.ReceivedObject<String> next = texts.recv(ProcessGroup.ANY_SOURCE, ProcessGroup.ANY_TAG);
                assertEquals(4, next.status().tag());
                received[next.status().source()] = next.value();
            }
            return List.of(received);
        });
        assertEquals(texts(worldSize).stream().map(text -> text.repeat(100)).toList(), outcomes.get(0));
    }

    @Test
    void aMessageThatTheCodecCannotDecodeIsRefused() {
        ranks = Ranks.over("simulated", 2);
        List<Object> outcomes = outcomes(ranks, group -> {
            GroupObjects<String> texts = group.objects(UTF8);
            if (group.rank() == 1) {
                IllegalArgumentException large = assertThrows(
                        IllegalArgumentException.class, () -> texts.withLimit(2).send("abc", 0, 1));
                group.send(new float[] {1.5f}, 0, 2);
                texts.send("abcdef", 0, 3);
                group.send(new byte[] {-1}, 0, 4);
                return large.getMessage();
            }
            List<String> refusals = new ArrayList<>();
            refusals.add(refused(() -> texts.recv(1, 2)));
            group.recv(new float[1], 1, 2);
            refusals.add(refused(() -> texts.withLimit(5).recv(1, 3)));
            assertEquals("abcdef", texts.recv(1, 3).value());
            refusals.add(refused(() -> texts.recv(1, 4)));
            return refusals;
        });
        assertEquals(
                "send of an object to rank 0 tag 1, rank 1 of 2: the object has 3 bytes, the limit is 2 bytes: send "
                        + "less, or set a larger limit",
                outcomes.get(1));
        String prefix = "recv of an object from rank 1 tag ";
        String[] refusals = ((List<?>) outcomes.get(0)).toArray(String[]::new);
        assertEquals(
                prefix
                        + "2, rank 0 of 2: the message f32[1] from rank 1 with tag 2 is no object: receive it into a "
                        + "tensor, or use another tag",
                refusals[0]);
        assertEquals(
                prefix + "3, rank 0 of 2: the object has 6 bytes, the limit is 5 bytes: receive it with a larger limit",
                refusals[1]);
        assertTrue(refusals[2].contains("the codec cannot decode the 1 bytes of rank 1: "), refusals[2]);
    }

    private static String refused(Runnable call) {
        return assertThrows(IllegalArgumentException.class, call::run).getMessage();
    }

    @ParameterizedTest(name = "{1} ranks over {0}")
    @MethodSource("groups")
    void objectsOfEveryLengthArriveAtTheRightRanks(String medium, int worldSize) {
        ranks = Ranks.over(medium, worldSize);
        List<String> all = texts(worldSize);
        for (int root = 0; root < worldSize; root++) {
            int from = root;
            assertEquals(
                    Collections.nCopies(worldSize, (Object) text(from)),
                    outcomes(
                            ranks,
                            group -> group.objects(UTF8).broadcast(group.rank() == from ? text(from) : null, from)));
            assertEquals(
                    IntStream.range(0, worldSize)
                            .mapToObj(rank -> rank == from ? all : List.of())
                            .toList(),
                    outcomes(ranks, group -> group.objects(UTF8).gather(text(group.rank()), from)));
            assertEquals(
                    all,
                    outcomes(ranks, group -> group.objects(UTF8).scatter(group.rank() == from ? all : null, from)));
        }
        assertEquals(
                Collections.nCopies(worldSize, (Object) all),
                outcomes(ranks, group -> group.objects(UTF8).allGather(text(group.rank()))));
    }

    @ParameterizedTest(name = "{1} ranks over {0}")
    @MethodSource("groups")
    void anObjectAboveTheLimitFailsAllRanksAndNamesItsRank(String medium, int worldSize) {
        int large = worldSize - 1;
        String tooMuch = "y".repeat(101);
        List<Function<ProcessGroup, Object>> calls = List.of(
                group -> limited(group).broadcast(group.rank() == large ? tooMuch : null, large),
                group -> limited(group).gather(group.rank() == large ? tooMuch : "z".repeat(100), 0),
                group -> limited(group).allGather(group.rank() == large ? tooMuch : "z".repeat(100)),
                group -> limited(group)
                        .scatter(group.rank() == large ? Collections.nCopies(worldSize, tooMuch) : null, large),
                group -> limited(group).reduce(group.rank() == large ? tooMuch : "z".repeat(100), JOINED, 0),
                group -> limited(group).allReduce(group.rank() == large ? tooMuch : "z".repeat(100), JOINED),
                group -> limited(group)
                        .allToAll(Collections.nCopies(worldSize, group.rank() == large ? tooMuch : "z".repeat(100))));
        ranks = Ranks.over(medium, worldSize);
        for (Function<ProcessGroup, Object> call : calls) {
            for (Object outcome : outcomes(ranks, call)) {
                String told = refusal(outcome);
                assertTrue(
                        told.contains(": the object of rank " + large + " has 101 bytes, the limit is 100 bytes: "),
                        told);
            }
            assertUsable(ranks);
        }
    }

    private static GroupObjects<String> limited(ProcessGroup group) {
        return group.objects(UTF8).withLimit(100);
    }

    @ParameterizedTest(name = "{1} ranks over {0}")
    @MethodSource("groups")
    void differentLimitsFailAllRanks(String medium, int worldSize) {
        ranks = Ranks.over(medium, worldSize);
        List<Object> outcomes = outcomes(
                ranks,
                group -> group.objects(UTF8).withLimit(100 + group.rank()).allGather("a"));

        for (Object outcome : worldSize == 1 ? List.of() : outcomes) {
            String told = refusal(outcome);
            assertTrue(told.contains(": limits of ranks differ: rank 0 100 bytes, rank 1 101 bytes"), told);
        }
    }

    @Test
    void differentCallsOnObjectsFailAllRanks() {
        assertDiffer(
                3,
                group -> group.rank() == 1
                        ? group.objects(UTF8).gather("a", 2)
                        : group.objects(UTF8).broadcast("b", 0),
                "rank 0 broadcast of an object from rank 0, rank 1 gather of objects to rank 2, rank 2 broadcast of an"
                        + " object from rank 0");
        assertDiffer(
                2,
                group -> group.rank() == 0
                        ? group.objects(UTF8).reduce("a", JOINED, 0)
                        : group.objects(UTF8).gather("a", 0),
                "rank 0 reduce of objects to rank 0, rank 1 gather of objects to rank 0");
    }

    private static void assertDiffer(int worldSize, Function<ProcessGroup, Object> call, String calls) {
        try (Ranks ranks = Ranks.over(Medium.SIMULATED, worldSize)) {
            for (Object outcome : outcomes(ranks, call)) {
                String told = refusal(outcome);
                assertTrue(told.contains(": ranks make different calls: " + calls + ": "), told);
            }
            assertUsable(ranks);
        }
    }

    /** Throws for what ends by "!" when encoding, and for what ends by "?" when decoding on a rank. */
    private static Codec<String> throwing(int decoder, ProcessGroup group) {
        return UTF8.map(
                text -> {
                    if (text.endsWith("!")) {
                        throw new OddText("cannot\nwrite " + text);
                    }
                    return text;
                },
                text -> {
                    if (text.endsWith("?") && group.rank() == decoder) {
                        throw new OddText("cannot read " + text);
                    }
                    return text;
                });
    }

    @ParameterizedTest(name = "{1} ranks over {0}")
    @MethodSource("groups")
    void anObjectThatCannotBeEncodedFailsItsReceivers(String medium, int worldSize) {
        int odd = worldSize - 1;
        Function<ProcessGroup, GroupObjects<String>> objects = group -> group.objects(throwing(-1, group));
        List<Function<ProcessGroup, Object>> toAll = List.of(
                group -> objects.apply(group).broadcast(group.rank() == odd ? "me!" : null, odd),
                group -> objects.apply(group).allGather(group.rank() == odd ? "me!" : "you"),
                group -> objects.apply(group)
                        .scatter(group.rank() == odd ? Collections.nCopies(worldSize, "me!") : null, odd),
                group -> objects.apply(group)
                        .allToAll(Collections.nCopies(worldSize, group.rank() == odd ? "me!" : "you")));
        ranks = Ranks.over(medium, worldSize);
        for (Function<ProcessGroup, Object> call : toAll) {
            List<Object> outcomes = outcomes(ranks, call);
            outcomes.forEach(outcome -> assertTellsOfEncoding(outcome, odd, outcomes.indexOf(outcome)));
            assertUsable(ranks);
        }
        List<Object> outcomes =
                outcomes(ranks, group -> objects.apply(group).gather(group.rank() == odd ? "me!" : "you", 0));
        assertTellsOfEncoding(outcomes.get(0), odd, 0);
        assertTellsOfEncoding(outcomes.get(odd), odd, odd);
        outcomes.subList(1, Math.max(1, odd)).forEach(outcome -> assertEquals(List.of(), outcome));
    }

    private static void assertTellsOfEncoding(Object outcome, int odd, int rank) {
        String told = refusal(outcome);
        if (rank == odd) {
            assertTrue(told.contains(": the codec cannot encode the object of this rank: "), told);
            assertInstanceOf(OddText.class, ((Throwable) outcome).getCause());
        } else {
            String expected = ": rank " + odd + " cannot encode its object: ";
            assertTrue(told.contains(expected) && told.endsWith("OddText: cannot write me!"), told);
        }
    }

    @ParameterizedTest(name = "{1} ranks over {0}")
    @MethodSource("groups")
    void anObjectThatCannotBeDecodedFailsOnlyThatRank(String medium, int worldSize) {
        int odd = worldSize - 1;
        ranks = Ranks.over(medium, worldSize);
        List<Object> outcomes =
                outcomes(ranks, group -> group.objects(throwing(odd, group)).broadcast("is it so?", 0));

        String told = refusal(outcomes.get(odd));
        assertTrue(told.contains(": the codec cannot decode the 9 bytes of rank 0: "), told);
        assertTrue(told.endsWith("OddText: cannot read is it so?"), told);
        outcomes.subList(0, odd).forEach(outcome -> assertEquals("is it so?", outcome));
    }

    @Test
    void anErrorOfACodecIsThrownUnchangedAndFailsTheOthers() {
        StackOverflowError deep = new StackOverflowError("of a test");
        Codec<String> failing = UTF8.map(
                text -> {
                    throw deep;
                },
                text -> text);
        ranks = Ranks.over(Medium.SIMULATED, 2);
        List<Object> outcomes = outcomes(
                ranks,
                group -> group.objects(group.rank() == 1 ? failing : UTF8).allGather("a"));

        assertSame(deep, outcomes.get(1));
        String told = refusal(outcomes.get(0));
        assertTrue(told.endsWith(": rank 1 cannot encode its object: " + deep), told);
    }

    @Test
    void anExceptionOfACodecWithoutTextIsNamedByItsClass() {
        Codec<String> failing = UTF8.map(
                text -> {
                    throw new Speechless();
                },
                text -> text);
        ranks = Ranks.over(Medium.SIMULATED, 2);
        List<Object> outcomes = outcomes(
                ranks,
                group -> group.objects(group.rank() == 1 ? failing : UTF8).allGather("a"));

        for (Object outcome : outcomes) {
            assertTrue(refusal(outcome).endsWith(Speechless.class.getName()), refusal(outcome));
        }
    }

    /** What cannot even say what it is. */
    private static final class Speechless extends RuntimeException {
        private static final long serialVersionUID = 1L;

        @Override
        public String toString() {
            throw new IllegalStateException("no text, of a test");
        }
    }

    @Test
    void bytesOfTheCallerAreCopied() {
        ranks = Ranks.over(Medium.SIMULATED, 2);
        byte[] own = "own".getBytes(StandardCharsets.UTF_8);
        List<Object> outcomes = outcomes(ranks, group -> {
            byte[] got = group.objects(Codec.bytes()).broadcast(group.rank() == 0 ? own : null, 0);
            got[0] = 'O';
            return new String(got, StandardCharsets.UTF_8);
        });

        assertEquals(List.of("Own", "Own"), outcomes);
        assertEquals("own", new String(own, StandardCharsets.UTF_8));
    }

    @Test
    void misuseIsRefusedBeforeAnythingIsSent() {
        ranks = Ranks.over(Medium.SIMULATED, 2);
        GroupObjects<String> objects = ranks.group(0).objects(UTF8);

        assertThrows(IllegalArgumentException.class, () -> objects.broadcast("a", 2));
        assertThrows(IllegalArgumentException.class, () -> objects.withLimit(0));
        assertThrows(
                IllegalStateException.class, () -> ranks.group(0).coalesced(() -> objects.allReduce(1, ReduceOp.SUM)));
    }
}
