package ferro.collectives.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CollectiveKind;
import ferro.collectives.plan.Algorithm.Topology;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The work for plans of 10,000 ranks, also in their builder, and the formula of scratch memory. */
class LargePlansTest {
    private static final int RANKS = 10_000;
    private static final int RANKS_OF_A_HOST = 8;
    /** Most visits for a level of a tree: a sum, its other side, and the step that combines the two. */
    private static final int VISITS = 6;
    /** Most parts that the formula of scratch memory walks. */
    private static final int PARTS_WALKED = 8;
    /** The depth of a binary tree of 10,000 ranks. */
    private static final int DEPTH = 14;

    private static final Hosts HOSTS = Hosts.of(RANKS, (a, b) -> a / RANKS_OF_A_HOST == b / RANKS_OF_A_HOST)
            .orElseThrow();

    private static final List<ReductionTree> TREES = List.of(
            ReductionTree.doubling(Hosts.ofOneRank(RANKS)),
            ReductionTree.halving(Hosts.ofOneRank(RANKS)),
            ReductionTree.doubling(HOSTS),
            ReductionTree.ring(HOSTS));

    static Stream<Algorithm> algorithms() {
        return Algorithm.all().stream().filter(row -> row.topology() != Topology.SHARED_MEMORY);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, RANKS / 2, RANKS - 1})
    void aTreeReduceScatterPlansWithFewVisitsBeyondItsSteps(int rank) {
        for (ReductionTree tree : TREES) {
            TreeReduceScatter maker = new TreeReduceScatter(tree, rank);
            Plan plan = maker.plan("counted");
            long steps = (long) plan.sends().size() + plan.receives().size();
            long max = VISITS * ((long) RANKS * DEPTH + steps);
            assertTrue(maker.visited() <= max, () -> maker.visited() + " visits, at most " + max + " expected");
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("algorithms")
    void theScratchFormulaIsThatOfTheRankWithTheMost(Algorithm algorithm) {
        boolean movesElements = algorithm.kind() != CollectiveKind.BARRIER;
        for (int size = 1; movesElements && size <= 64; size += size < 20 ? 1 : 11) {
            for (Hosts hosts : algorithm.topology() == Topology.HOSTS ? layouts(size) : noHosts()) {
                for (int root = 0; root < (algorithm.kind().isRooted() ? size : 1); root += 1 + size / 5) {
                    assertEquals(
                            largestScratch(algorithm, size, root, hosts),
                            algorithm.scratchChunks(size, root, hosts),
                            algorithm + " of " + size + " ranks, root " + root + ", hosts " + hosts);
                }
            }
        }
    }

    @Test
    void theScratchFormulaVisitsFewPartsOf10000Ranks() {
        for (ReductionTree tree : TREES) {
            TreeReduceScatter maker = new TreeReduceScatter(tree, TreeReduceScatter.ALL_RANKS);
            int chunks = maker.scratchChunks();
            assertTrue(chunks > RANKS - PARTS_WALKED, () -> chunks + " chunks");
            assertTrue(maker.visited() <= (long) VISITS * PARTS_WALKED * RANKS, () -> maker.visited() + " visits");
        }
    }

    private static int largestScratch(Algorithm algorithm, int size, int root, Hosts hosts) {
        return IntStream.range(0, size)
                .map(rank -> algorithm.plan(rank, size, root, hosts).scratch().count())
                .max()
                .orElseThrow();
    }

    private static List<Hosts> noHosts() {
        List<Hosts> none = new ArrayList<>();
        none.add(null);
        return none;
    }

    private static List<Hosts> layouts(int size) {
        return MultiHostPlansTest.layouts(size).stream()
                .filter(hostOf -> size < 14 || IntStream.of(hostOf).max().orElseThrow() % 9 == 1)
                .map(hostOf -> Hosts.of(size, (a, b) -> hostOf[a] == hostOf[b]))
                .flatMap(Optional::stream)
                .toList();
    }

    /** The most entries that a step with one chunk reads and writes: both of its regions, in each of three indexes. */
    private static final int ENTRIES_OF_A_CHUNK = 6;

    @ParameterizedTest(name = "{0} by {1}")
    @CsvSource({
        "ALL_REDUCE,ring",
        "ALL_REDUCE,halvingDoubling",
        "ALL_GATHER,ring",
        "ALL_GATHER,recursiveDoubling",
        "REDUCE_SCATTER,ring",
        "GATHER,binomial",
        "GATHER,linear",
        "ALL_TO_ALL,bruck"
    })
    void planningWorkGrowsWithTheChunksOfTheSteps(CollectiveKind kind, String algorithm) {
        Plan plan = Algorithm.of(kind, algorithm).plan(0, RANKS, 0, null);
        PlanBuilder builder = new PlanBuilder("again", plan.chunkCount(), plan.in(), plan.out());
        long chunks = 0;
        for (Step.Send send : plan.sends()) {
            builder.send(send.peer(), send.region(), send.chunk(), send.chunks());
            chunks += send.chunks();
        }
        for (Step.WriteStep arrival : plan.receives()) {
            add(arrival, builder);
            chunks += arrival.chunks();
        }
        long most = ENTRIES_OF_A_CHUNK * chunks;
        assertTrue(
                builder.visitedEntries() <= most,
                () -> builder.visitedEntries() + " entries visited, at most " + most + " expected");
    }

    private static void add(Step.WriteStep arrival, PlanBuilder builder) {
        if (arrival instanceof Step.LocalStep local) {
            builder.copy(local.from(), local.region(), local.chunk(), local.chunks());
        } else {
            builder.receive(arrival.peer(), arrival.region(), arrival.chunk(), arrival.chunks());
        }
    }
}
