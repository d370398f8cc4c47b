package ferro.collectives.plan;

import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CollectiveKind;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A builder finds the step before each step without a search through all steps. */
class PlanBuilderTest {
    private static final int RANKS = 10_000;
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
    void theWorkGrowsWithTheChunksOfTheSteps(CollectiveKind kind, String algorithm) {
        Plan plan = Algorithm.of(kind, algorithm).plan(0, RANKS, 0, null);
        PlanBuilder builder = new PlanBuilder("again", plan.chunkCount(), plan.in(), plan.out());
        long chunks = 0;
        for (Step.Send send : plan.sends()) {
            builder.send(send.peer(), send.region(), send.chunk(), send.chunks());
            chunks += send.chunks();
        }
        for (Step.Arrival arrival : plan.receives()) {
            add(arrival, builder);
            chunks += arrival.chunks();
        }
        long most = ENTRIES_OF_A_CHUNK * chunks;
        assertTrue(
                builder.visitedEntries() <= most,
                () -> builder.visitedEntries() + " entries visited, at most " + most + " expected");
    }

    private static void add(Step.Arrival arrival, PlanBuilder builder) {
        if (arrival instanceof Step.Local local) {
            builder.copy(local.from(), local.region(), local.chunk(), local.chunks());
        } else {
            int peer =
                    arrival instanceof Step.Receive receive ? receive.peer() : ((Step.ReceiveCombine) arrival).peer();
            builder.receive(peer, arrival.region(), arrival.chunk(), arrival.chunks());
        }
    }
}
