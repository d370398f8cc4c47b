package ferro.collectives.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CollectiveKind;
import ferro.collectives.plan.Algorithm.Topology;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The proof of every plan that knows hosts, for many ways to lay ranks on them. */
class MultiHostPlansTest {
    @Tag("long")
    @ParameterizedTest(name = "{0}")
    @MethodSource("algorithms")
    void plansOverHostsAreProvedForManyLayouts(Algorithm algorithm) {
        CollectiveKind kind = algorithm.kind();
        for (int size = 3; size <= 11; size++) {
            for (int[] hostOf : layouts(size)) {
                Optional<Hosts> hosts = Hosts.of(size, (a, b) -> hostOf[a] == hostOf[b]);
                for (int root = 0; hosts.isPresent() && root < (kind.isRooted() ? size : 1); root++) {
                    List<Plan> plans = plans(algorithm, root, hosts.get());
                    assertEquals(Optional.empty(), PlanVerifier.verify(kind, plans, root), hosts + " root " + root);
                    if (kind != CollectiveKind.BARRIER) {
                        List<Plan> cut = plans.stream()
                                .map(plan -> Segmented.plan(plan, 2))
                                .toList();
                        assertEquals(Optional.empty(), PlanVerifier.verify(kind, cut, root), hosts + " in segments");
                    }
                }
            }
        }
    }

    static Stream<Algorithm> algorithms() {
        return Algorithm.all().stream().filter(row -> row.topology() == Topology.HOSTS);
    }

    @Test
    void allReduceBetweenTwoHostsSendsItsBytesOnceEachWay() {
        Hosts hosts = Hosts.of(6, (a, b) -> a % 2 == b % 2).orElseThrow();
        List<Plan> plans = plans(chosen(CollectiveKind.ALL_REDUCE, 1 << 20, hosts, false), 0, hosts);
        int chunks = 0;
        for (int rank = 0; rank < 6; rank++) {
            assertEquals(2, plans.get(rank).chunkCount());
            for (Step.Send send : plans.get(rank).sends()) {
                chunks += hosts.of(rank) != hosts.of(send.peer()) ? send.chunks() : 0;
            }
        }
        assertEquals(4, chunks);
    }

    @Test
    void distantHostsUseDoublingForMoreBytes() {
        Hosts two = Hosts.of(4, (a, b) -> a / 2 == b / 2).orElseThrow();
        Hosts three = Hosts.of(6, (a, b) -> a / 2 == b / 2).orElseThrow();
        assertEquals("byHostsDoubling", algorithm(64 << 10, two, false));
        assertEquals("byHostsRing", algorithm((64 << 10) + 4, two, false));
        assertEquals("byHostsDoubling", algorithm(1 << 20, two, true));
        assertEquals("byHostsRing", algorithm((1 << 20) + 4, two, true));
        assertEquals("byHostsDoubling", algorithm(256 << 10, three, true));
        assertEquals("byHostsRing", algorithm((256 << 10) + 4, three, true));
    }

    private static String algorithm(long bytes, Hosts hosts, boolean far) {
        return chosen(CollectiveKind.ALL_REDUCE, bytes, hosts, far).label();
    }

    private static Algorithm chosen(CollectiveKind kind, long bytes, Hosts hosts, boolean far) {
        AlgorithmChooser.ChoiceInputs needed =
                new AlgorithmChooser.ChoiceInputs(kind, hosts.worldSize(), hosts.count(), bytes, 0);
        return AlgorithmChooser.of("").far(far).algorithm(Topology.HOSTS, needed);
    }

    @Test
    void withoutSeveralRanksOnSeveralHostsThereIsNoHostPlan() {
        assertTrue(Hosts.of(4, (a, b) -> true).isEmpty());
        assertTrue(Hosts.of(4, (a, b) -> a == b).isEmpty());
        assertTrue(Hosts.of(3, (a, b) -> Math.abs(a - b) <= 1).isEmpty());
    }

    static List<int[]> layouts(int size) {
        List<int[]> layouts = new ArrayList<>();
        for (int hosts = 2; hosts < size; hosts++) {
            int[] inTurn = new int[size];
            int[] inBlocks = new int[size];
            int[] oneLarge = new int[size];
            for (int rank = 0; rank < size; rank++) {
                inTurn[rank] = rank % hosts;
                inBlocks[rank] = rank * hosts / size;
                oneLarge[rank] = Math.max(0, rank - (size - hosts));
            }
            layouts.addAll(List.of(inTurn, inBlocks, oneLarge));
        }
        return layouts;
    }

    private static List<Plan> plans(Algorithm algorithm, int root, Hosts hosts) {
        return IntStream.range(0, hosts.worldSize())
                .mapToObj(rank -> algorithm.plan(rank, hosts.worldSize(), root, hosts))
                .toList();
    }

    @Test
    @DisplayName("of 1,000 ranks on 125 hosts only ranks of one host are compared")
    void onlyRanksOfOneHostAreComparedPairwise() {
        int[] numbers = new int[1000];
        for (int rank = 0; rank < numbers.length; rank++) {
            numbers[rank] = rank / 8;
        }
        AtomicInteger compared = new AtomicInteger();
        Optional<Hosts> hosts = Hosts.of(numbers, (a, b) -> {
            compared.incrementAndGet();
            return a / 8 == b / 8;
        });

        assertEquals(
                Hosts.of(1000, (a, b) -> a / 8 == b / 8).orElseThrow().toString(),
                hosts.orElseThrow().toString());
        assertTrue(compared.get() <= 8 * 1000, compared + " comparisons");
    }

    @Test
    void ranksWithOneHostNumberMayBeOnSeveralHosts() {
        Hosts hosts = Hosts.of(new int[] {5, 5, 5, 7, 5}, (a, b) -> a % 2 == b % 2 && a != 3 && b != 3)
                .orElseThrow();

        assertEquals("[[0, 2, 4], [1], [3]]", hosts.toString());
    }
}
