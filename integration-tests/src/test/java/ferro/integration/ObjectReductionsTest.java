package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.group.Codec;
import ferro.group.GroupObjects;
import ferro.group.ProcessGroup;
import ferro.harness.Medium;
import ferro.harness.OnThread;
import ferro.harness.Ranks;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** All-to-all and reductions of objects, over every medium; after every refusal the group makes another call. */
class ObjectReductionsTest extends ObjectRanks {
    static final BinaryOperator<String> JOINED = (one, other) -> "(" + one + "+" + other + ")";

    private static GroupObjects<String> texts(ProcessGroup group) {
        return group.objects(Codec.utf8());
    }

    private static String toRank(int from, int to) {
        return "ä".repeat(700 * from + 300 * to) + from + "->" + to;
    }

    @ParameterizedTest(name = "{1} ranks over {0}")
    @MethodSource("groups")
    void anAllToAllGivesEachRankItsObjectOfEachRank(String medium, int worldSize) {
        ranks = Ranks.over(medium, worldSize);
        List<Object> expected = IntStream.range(0, worldSize)
                .<Object>mapToObj(to -> IntStream.range(0, worldSize)
                        .mapToObj(from -> toRank(from, to))
                        .toList())
                .toList();

        assertEquals(
                expected,
                outcomes(
                        ranks,
                        group -> texts(group)
                                .allToAll(IntStream.range(0, worldSize)
                                        .mapToObj(to -> toRank(group.rank(), to))
                                        .toList())));
    }

    @ParameterizedTest(name = "{1} ranks over {0}")
    @MethodSource("groups")
    void aReductionCombinesInTheOrderOfTheRanks(String medium, int worldSize) {
        String expected = IntStream.range(0, worldSize)
                .mapToObj(rank -> "v" + rank)
                .reduce(JOINED)
                .orElseThrow();
        ranks = Ranks.over(medium, worldSize);
        for (int root = 0; root < worldSize; root++) {
            int to = root;
            assertEquals(
                    IntStream.range(0, worldSize)
                            .<Object>mapToObj(rank -> rank == to ? Optional.of(expected) : Optional.empty())
                            .toList(),
                    outcomes(ranks, group -> texts(group).reduce("v" + group.rank(), JOINED, to)));
        }
        assertEquals(
                Collections.nCopies(worldSize, (Object) expected),
                outcomes(ranks, group -> texts(group).allReduce("v" + group.rank(), JOINED)));
    }

    @ParameterizedTest(name = "{1} ranks over {0}")
    @MethodSource("groups")
    void aListOfTheWrongLengthFailsAllRanks(String medium, int worldSize) {
        int odd = worldSize - 1;
        String wrong = " passes a list of 0, need one object for each of " + worldSize + " ranks";
        Map<String, Function<ProcessGroup, Object>> calls = Map.of(
                "allToAll of objects",
                group -> texts(group).allToAll(group.rank() == odd ? List.of() : Collections.nCopies(worldSize, "a")),
                "scatter of objects from rank " + odd,
                group -> texts(group).scatter(group.rank() == odd ? List.of() : null, odd));
        ranks = Ranks.over(medium, worldSize);
        calls.forEach((name, call) -> {
            List<Object> outcomes = outcomes(ranks, call);
            for (int rank = 0; rank < worldSize; rank++) {
                String who = rank == odd ? "this rank" : "rank " + odd;
                assertEquals(
                        name + ", rank " + rank + " of " + worldSize + ": " + who + wrong, refusal(outcomes.get(rank)));
            }
            assertUsable(ranks);
        });
    }

    @ParameterizedTest(name = "{1} ranks over {0}")
    @MethodSource("groups")
    void rootsThatDifferFailAllRanksWithAllRoots(String medium, int worldSize) {
        List<Function<ProcessGroup, Object>> calls = List.of(
                group -> texts(group).reduce("a", JOINED, group.rank()),
                group -> texts(group).gather("a", group.rank()),
                group -> texts(group).broadcast("a", group.rank()),
                group -> texts(group).scatter(Collections.nCopies(worldSize, "a"), group.rank()));
        ranks = Ranks.over(medium, worldSize);
        for (Function<ProcessGroup, Object> call : calls) {
            for (Object outcome : worldSize == 1 ? List.of() : outcomes(ranks, call)) {
                String message = refusal(outcome);
                assertTrue(
                        message.contains(": roots of ranks differ: rank 0 root 0, rank 1 root 1")
                                && message.endsWith(": all ranks must make the same call with the same root and limit"),
                        message);
            }
            assertUsable(ranks);
        }
    }

    @Test
    void anExceptionOfTheOpIsThrownUnchangedWhereTheOpRuns() {
        IllegalStateException odd = new IllegalStateException("of a test");
        BinaryOperator<String> failing = (one, other) -> {
            throw odd;
        };
        ranks = Ranks.over(Medium.SIMULATED, 3);
        List<Object> reduced = outcomes(ranks, group -> texts(group).reduce("a", failing, 1));
        assertEquals(List.of(Optional.empty(), odd, Optional.empty()), reduced);
        assertUsable(ranks);

        outcomes(ranks, group -> texts(group).allReduce("a", failing)).forEach(outcome -> assertSame(odd, outcome));
        assertUsable(ranks);

        outcomes(ranks, group -> texts(group).allReduce("a", (one, other) -> null))
                .forEach(outcome -> assertEquals(
                        "the op returned null",
                        assertInstanceOf(NullPointerException.class, outcome).getMessage()));
    }

    @Test
    void callsOnObjectsHaveTheTimeoutOfTheirView() {
        List<Function<ProcessGroup, Object>> calls = List.of(
                group -> texts(group).reduce("a", JOINED, 0),
                group -> texts(group).allReduce("a", JOINED),
                group -> texts(group).allToAll(List.of("a", "a")));
        for (Function<ProcessGroup, Object> call : calls) {
            try (Ranks ranks = Ranks.over(Medium.SIMULATED, 2)) {
                long begun = System.nanoTime();
                FerroException late = OnThread.result(
                                ranks.start(0, group -> call.apply(group.within(Duration.ofMillis(300)))))
                        .failure();

                assertEquals(FerroException.Code.TIMED_OUT, late.code(), late.getMessage());
                long stated = Long.parseLong(late.getMessage().replaceFirst(".* after ([0-9]+) ms .*", "$1"));
                long took = Duration.ofNanos(System.nanoTime() - begun).toMillis();
                assertTrue(300 <= stated && stated <= took && took < 10_000, late.getMessage());
            }
        }
    }

    /** One object of 64 would not fit 64 times into one array, so the ranks compare their totals. */
    @Test
    void aLargeObjectForOneRankDoesNotCountForAllRanks() {
        int worldSize = 64;
        int bytes = 34 << 20;
        ranks = Ranks.over(Medium.SIMULATED, worldSize);
        List<Object> outcomes = outcomes(ranks, group -> {
            byte[][] values = new byte[worldSize][0];
            values[0] = new byte[group.rank() == 1 ? bytes : 0];
            return group.objects(Codec.bytes()).allToAll(List.of(values)).get(1).length;
        });

        assertEquals(bytes, outcomes.get(0));
        assertEquals(Collections.nCopies(worldSize - 1, (Object) 0), outcomes.subList(1, worldSize));
    }
}
