package ferro.collectives.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CollectiveKind;
import ferro.collectives.plan.Algorithm.Topology;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AlgorithmChooserTest {
    @ParameterizedTest
    @CsvSource({
        "ALL_REDUCE, 2, 32768, recursiveDoubling",
        "ALL_REDUCE, 2, 32772, ring",
        "ALL_REDUCE, 3, 65536, recursiveDoubling",
        "ALL_REDUCE, 3, 65540, ring",
        "ALL_REDUCE, 4, 65540, halvingDoubling",
        "ALL_REDUCE, 4, 1048576, halvingDoubling",
        "ALL_REDUCE, 4, 1048580, ring",
        "ALL_GATHER, 2, 1073741824, linear",
        "ALL_GATHER, 3, 65536, linear",
        "ALL_GATHER, 3, 65540, ring",
        "ALL_GATHER, 4, 4, recursiveDoubling",
        "ALL_GATHER, 16, 1048576, recursiveDoubling",
        "ALL_GATHER, 16, 1048592, ring",
        "ALL_GATHER, 5, 65536, linear",
        "ALL_GATHER, 6, 65536, recursiveDoubling",
        "ALL_GATHER, 6, 65540, ring"
    })
    void choosesByWorldSizeAndBytes(CollectiveKind kind, int worldSize, long bytes, String algorithm) {
        assertEquals(algorithm, name(AlgorithmChooser.of(""), kind, worldSize, bytes));
    }

    @ParameterizedTest
    @CsvSource({
        "ALL_REDUCE, 2, 65536, recursiveDoubling",
        "ALL_REDUCE, 2, 1048576, recursiveDoubling",
        "ALL_REDUCE, 2, 1048580, ring",
        "ALL_REDUCE, 3, 262144, recursiveDoubling",
        "ALL_REDUCE, 3, 262148, ring",
        "ALL_REDUCE, 8, 262148, halvingDoubling",
        "ALL_REDUCE, 8, 4194308, ring",
        "ALL_GATHER, 4, 1048576, linear",
        "ALL_GATHER, 4, 1048580, ring"
    })
    void choosesFewerStepsForLongerMessagesIfRanksAreDistant(
            CollectiveKind kind, int worldSize, long bytes, String algorithm) {
        assertEquals(algorithm, name(AlgorithmChooser.of("").far(true), kind, worldSize, bytes));
        AlgorithmChooser overridden = AlgorithmChooser.of("allReduce=ring,allGather=ring");
        assertEquals("ring", name(overridden.far(true), kind, worldSize, bytes));
    }

    /** Named here one by one, so that none is taken because of its place in the registry. */
    @ParameterizedTest
    @CsvSource({
        "ALL_REDUCE, 4096, flat",
        "ALL_REDUCE, 4100, halfInPlace",
        "REDUCE, 4096, flat",
        "REDUCE, 4100, shares",
        "BROADCAST, 1, staged",
        "ALL_GATHER, 100000, staged",
        "REDUCE_SCATTER, 4096, flat",
        "REDUCE_SCATTER, 4100, staged",
        "GATHER, 1, staged",
        "SCATTER, 1, staged",
        "ALL_TO_ALL, 1, staged",
        "BARRIER, 0, flat"
    })
    void choosesProgramsByKindAndSize(CollectiveKind kind, long bytes, String algorithm) {
        assertEquals(algorithm, choose(Topology.SHARED_MEMORY, kind, bytes, 131_072));
        Algorithm littleMemory = Algorithm.of(kind, choose(Topology.SHARED_MEMORY, kind, Math.max(bytes, 200), 100));
        assertTrue(littleMemory.fits(Math.max(bytes, 200), 100), littleMemory::name);
    }

    @ParameterizedTest
    @CsvSource({
        "ALL_REDUCE, 65536, byHostsDoubling",
        "ALL_REDUCE, 65540, byHostsRing",
        "REDUCE_SCATTER, 65536, byHostsDoubling",
        "REDUCE_SCATTER, 65540, byHostsRing",
        "BROADCAST, 1, byHosts",
        "ALL_GATHER, 1, byHosts",
        "BARRIER, 0, byHosts"
    })
    void choosesPlansOverHostsByKindAndSize(CollectiveKind kind, long bytes, String algorithm) {
        assertEquals(algorithm, choose(Topology.HOSTS, kind, bytes, 0));
    }

    private static String choose(Topology topology, CollectiveKind kind, long bytes, long slotBytes) {
        return AlgorithmChooser.of("")
                .algorithm(topology, new AlgorithmChooser.ChoiceInputs(kind, 4, 2, bytes, slotBytes))
                .label();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void choosesOnlyExistingAlgorithms(boolean far) {
        AlgorithmChooser table = AlgorithmChooser.of(" ").far(far);
        for (CollectiveKind kind : CollectiveKind.values()) {
            for (int worldSize : new int[] {1, 2, 3, 4, 8, 9, 64}) {
                for (long bytes : new long[] {0, 4, 1 << 15, 1 << 20, 1L << 33}) {
                    String algorithm = name(table, kind, worldSize, bytes);
                    assertTrue(Algorithm.names(kind, Topology.FLAT).contains(algorithm), kind + " " + algorithm);
                    assertEquals(
                            algorithm,
                            Algorithm.of(kind, algorithm)
                                    .plan(0, worldSize, 0, null)
                                    .algorithm());
                }
            }
        }
    }

    /** The names of the linear algorithms before 0.1.0. */
    @Test
    void acceptsTheOldNamesOfLinearAlgorithms() {
        AlgorithmChooser table = AlgorithmChooser.of("broadcast=direct,reduceScatter=directDoubling");

        assertEquals("linear", name(table, CollectiveKind.BROADCAST, 64, 4));
        assertEquals("linearDoubling", name(table, CollectiveKind.REDUCE_SCATTER, 64, 4));
    }

    @Test
    void prefersTheAlgorithmOfTheSetting() {
        AlgorithmChooser table = AlgorithmChooser.of("allReduce=halvingDoubling, broadcast = linear");

        assertEquals("halvingDoubling", name(table, CollectiveKind.ALL_REDUCE, 3, 1L << 30));
        assertEquals("linear", name(table, CollectiveKind.BROADCAST, 64, 4));
        assertEquals("dissemination", name(table, CollectiveKind.BARRIER, 64, 0));
    }

    @ParameterizedTest
    @ValueSource(strings = {"allReduce=bruck", "allreduce=ring", "allReduce", "allReduce=ring,reduce=ring"})
    void refusesAnOverrideThatDoesNotExist(String overrides) {
        assertThrows(IllegalArgumentException.class, () -> AlgorithmChooser.of(overrides));
    }

    @Test
    void anUnknownOverrideListsTheAlgorithms() {
        String algorithm = assertThrows(IllegalArgumentException.class, () -> AlgorithmChooser.of("allReduce=bruck"))
                .getMessage();
        String kind = assertThrows(IllegalArgumentException.class, () -> AlgorithmChooser.of("allSum=ring"))
                .getMessage();

        assertTrue(algorithm.contains("\"bruck\"") && algorithm.contains("halvingDoubling"), algorithm);
        assertTrue(kind.contains("\"allSum\"") && kind.contains("reduceScatter"), kind);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aReduceScatterIsTheTwinOfTheAllReduceOfItsSize(boolean far) {
        AlgorithmChooser choice = AlgorithmChooser.of("").far(far);
        for (Topology topology : Topology.values()) {
            for (int worldSize : new int[] {1, 2, 3, 4, 5, 8, 9, 64}) {
                for (int shift = 3; shift < 33; shift++) {
                    for (long bytes : new long[] {(1L << shift) - 4, 1L << shift, (1L << shift) + 4}) {
                        Algorithm allReduce = choose(choice, topology, CollectiveKind.ALL_REDUCE, worldSize, bytes);
                        Algorithm parts = choose(choice, topology, CollectiveKind.REDUCE_SCATTER, worldSize, bytes);
                        assertTrue(
                                Algorithm.twins(allReduce).contains(parts),
                                () -> allReduce + ", " + parts + " " + bytes);
                    }
                }
            }
        }
    }

    private static Algorithm choose(
            AlgorithmChooser choice, Topology topology, CollectiveKind kind, int worldSize, long bytes) {
        return choice.algorithm(topology, new AlgorithmChooser.ChoiceInputs(kind, worldSize, 3, bytes, 131_072));
    }

    @Test
    void aNonCommutativeOpGetsAnAlgorithmInRankOrder() {
        AlgorithmChooser plain = AlgorithmChooser.of("");
        AlgorithmChooser other = AlgorithmChooser.of(
                "allReduce=ring,reduce=binomial,reduceScatter=halving,scan=chain,exclusiveScan=chain");
        for (CollectiveKind kind : CollectiveKind.values()) {
            for (int worldSize : new int[] {1, 2, 3, 8, 64}) {
                for (long bytes : new long[] {0, 4, 1 << 20}) {
                    AlgorithmChooser.ChoiceInputs needed = new AlgorithmChooser.ChoiceInputs(kind, worldSize, bytes);
                    if (kind.combines()) {
                        assertTrue(plain.inRankOrder(needed).isInRankOrder(), needed::toString);
                        assertTrue(other.inRankOrder(needed).isInRankOrder(), needed::toString);
                    } else {
                        assertThrows(IllegalArgumentException.class, () -> plain.inRankOrder(needed));
                    }
                }
            }
        }
        AlgorithmChooser.ChoiceInputs small = new AlgorithmChooser.ChoiceInputs(CollectiveKind.SCAN, 8, 4);
        assertEquals("recursiveDoubling", plain.inRankOrder(small).label());
        assertEquals("chain", other.inRankOrder(small).label());
    }

    @Test
    void aReduceScatterFollowsAnAllReduceThatIsOverridden() {
        AlgorithmChooser both = AlgorithmChooser.of("allReduce=recursiveDoubling");

        assertEquals("linearDoubling", name(both, CollectiveKind.REDUCE_SCATTER, 4, 1L << 30));
        AlgorithmChooser one = AlgorithmChooser.of("allReduce=recursiveDoubling,reduceScatter=ring");
        assertEquals("ring", name(one, CollectiveKind.REDUCE_SCATTER, 4, 1L << 30));
    }

    private static String name(AlgorithmChooser choice, CollectiveKind kind, int worldSize, long bytes) {
        return choice.algorithm(Topology.FLAT, new AlgorithmChooser.ChoiceInputs(kind, worldSize, bytes))
                .label();
    }
}
