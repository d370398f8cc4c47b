package ferro.collectives.plan;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import ferro.CollectiveKind;
import ferro.collectives.engine.ChunkLengths;
import ferro.collectives.plan.Algorithm.Topology;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Part r of an all-reduce and a reduce-scatter on rank r combine every element by the same expression, where both have
 * the same {@link Algorithm.CombineOrder}; and only there.
 */
class TwinPlansTest {
    @Tag("long")
    @ParameterizedTest(name = "{0}")
    @MethodSource("flatAllReduces")
    void twinsCombineEveryElementAlikeInEveryWorld(Algorithm allReduce) {
        for (int size = 1; size <= 64; size++) {
            for (Algorithm twin : Algorithm.twins(allReduce)) {
                assertTwins(allReduce, twin, size, null);
            }
        }
    }

    @Tag("long")
    @ParameterizedTest(name = "{0}")
    @MethodSource("allReducesByHosts")
    void twinsCombineEveryElementAlikeForAnyLayoutOfHosts(Algorithm allReduce) {
        for (int size = 3; size <= 13; size++) {
            for (int[] hostOf : MultiHostPlansTest.layouts(size)) {
                Optional<Hosts> hosts = Hosts.of(size, (a, b) -> hostOf[a] == hostOf[b]);
                for (Algorithm twin : Algorithm.twins(allReduce)) {
                    if (hosts.isPresent()) {
                        assertTwins(allReduce, twin, size, hosts.get());
                    }
                }
            }
        }
    }

    private static void assertTwins(Algorithm allReduce, Algorithm twin, int size, Hosts hosts) {
        for (int part : new int[] {1, 2, 7, 12}) {
            assertArrayEquals(
                    expressions(allReduce, size, part * size, hosts),
                    expressions(twin, size, part * size, hosts),
                    () -> allReduce + " and " + twin + " of " + size + " ranks, parts of " + part + ", hosts " + hosts);
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("flatAllReduces")
    void algorithmsThatAreNotTwinsCombineDifferently(Algorithm allReduce) {
        List<Algorithm> twins = Algorithm.twins(allReduce);
        for (String name : Algorithm.names(CollectiveKind.REDUCE_SCATTER, Topology.FLAT)) {
            Algorithm other = Algorithm.of(CollectiveKind.REDUCE_SCATTER, name);
            for (int size = 4; size <= 16 && !twins.contains(other); size++) {
                assertFalse(
                        Arrays.equals(expressions(allReduce, size, size, null), expressions(other, size, size, null)),
                        allReduce + " and " + other + " of " + size + " ranks");
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("allReducesByHosts")
    void hostAlgorithmsThatAreNotTwinsCombineDifferently(Algorithm allReduce) {
        Hosts hosts = Hosts.of(6, (a, b) -> a / 2 == b / 2).orElseThrow();
        List<Algorithm> twins = Algorithm.twins(allReduce);
        for (String name : Algorithm.names(CollectiveKind.REDUCE_SCATTER, Topology.HOSTS)) {
            Algorithm other = Algorithm.of(CollectiveKind.REDUCE_SCATTER, name);
            assertEquals(
                    twins.contains(other),
                    Arrays.equals(expressions(allReduce, 6, 6, hosts), expressions(other, 6, 6, hosts)),
                    other::toString);
        }
    }

    static Stream<Algorithm> flatAllReduces() {
        return allReduces(Topology.FLAT);
    }

    static Stream<Algorithm> allReducesByHosts() {
        return allReduces(Topology.HOSTS);
    }

    private static Stream<Algorithm> allReduces(Topology topology) {
        return Algorithm.all().stream()
                .filter(row -> row.kind() == CollectiveKind.ALL_REDUCE && row.topology() == topology);
    }

    /** Returns, for each element, how it is combined: on rank 0 for an all-reduce, else on the rank of its part. */
    private static long[] expressions(Algorithm algorithm, int size, int elements, Hosts hosts) {
        long[][] ofChunks = PlanVerifier.expressions(
                algorithm.kind(),
                IntStream.range(0, size)
                        .mapToObj(rank -> algorithm.plan(rank, size, 0, hosts))
                        .toList());
        int chunks = ofChunks[0].length;
        ChunkLengths cut = ChunkLengths.equal(elements);
        long[] found = new long[elements];
        for (int chunk = 0; chunk < chunks; chunk++) {
            long end = cut.start(Region.OUT, chunk + 1, chunks);
            for (long element = cut.start(Region.OUT, chunk, chunks); element < end; element++) {
                int part = (int) (element * size / elements);
                int rank = algorithm.kind() == CollectiveKind.ALL_REDUCE ? 0 : part;
                found[(int) element] = ofChunks[rank][chunk];
                assertNotEquals(0, found[(int) element], algorithm + " leaves element " + element + " unset");
            }
        }
        return found;
    }
}
