package ferro.tck;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.CollectiveKind;
import ferro.Work;
import ferro.tck.cells.Cell;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** Rules 101 to 110: every collective, at every size, length, type and op, gives the result of a plain loop. */
public interface CollectiveRules extends Subject {
    /**
     * Checks that an all-reduce leaves the combined elements of all ranks on every rank.
     *
     * @param worldSize number of ranks
     */
    @Rule(value = 101, apart = true)
    @EachSize
    default void allReduceCombinesTheElementsOfAllRanksOnEveryRank(int worldSize) {
        Cells.check(this, worldSize, CollectiveKind.ALL_REDUCE);
    }

    /**
     * Checks that a broadcast copies the root's elements.
     *
     * @param worldSize number of ranks
     */
    @Rule(value = 102, apart = true)
    @EachSize
    default void broadcastCopiesTheElementsOfTheRootToEveryRank(int worldSize) {
        Cells.check(this, worldSize, CollectiveKind.BROADCAST);
    }

    /**
     * Checks that a reduce writes its result on the root only.
     *
     * @param worldSize number of ranks
     */
    @Rule(value = 103, apart = true)
    @EachSize
    default void reduceCombinesOnTheRootAndLeavesTheOthersAlone(int worldSize) {
        Cells.check(this, worldSize, CollectiveKind.REDUCE);
    }

    /**
     * Checks that an all-gather joins parts in rank order.
     *
     * @param worldSize number of ranks
     */
    @Rule(value = 104, apart = true)
    @EachSize
    default void allGatherJoinsThePartsOfAllRanksInRankOrder(int worldSize) {
        Cells.check(this, worldSize, CollectiveKind.ALL_GATHER);
    }

    /**
     * Checks that a reduce-scatter leaves part r of the combined elements on rank r.
     *
     * @param worldSize number of ranks
     */
    @Rule(value = 105, apart = true)
    @EachSize
    default void reduceScatterLeavesEachRankItsPartOfTheCombinedElements(int worldSize) {
        Cells.check(this, worldSize, CollectiveKind.REDUCE_SCATTER);
    }

    /**
     * Checks that a gather joins parts on the root.
     *
     * @param worldSize number of ranks
     */
    @Rule(value = 106, apart = true)
    @EachSize
    default void gatherJoinsThePartsOfAllRanksOnTheRoot(int worldSize) {
        Cells.check(this, worldSize, CollectiveKind.GATHER);
    }

    /**
     * Checks that a scatter sends each rank its part of the root's elements.
     *
     * @param worldSize number of ranks
     */
    @Rule(value = 107, apart = true)
    @EachSize
    default void scatterHandsEachRankItsPartOfTheRootsElements(int worldSize) {
        Cells.check(this, worldSize, CollectiveKind.SCATTER);
    }

    /**
     * Checks that an all-to-all sends part j to rank j.
     *
     * @param worldSize number of ranks
     */
    @Rule(value = 108, apart = true)
    @EachSize
    default void allToAllSendsPartJOfEachRankToRankJ(int worldSize) {
        Cells.check(this, worldSize, CollectiveKind.ALL_TO_ALL);
    }

    /**
     * Checks that a scan combines the operands of the ranks up to each rank.
     *
     * @param worldSize number of ranks
     */
    @Rule(value = 127, apart = true)
    @EachSize
    default void scanCombinesTheElementsOfTheRanksUpToEachRank(int worldSize) {
        Cells.check(this, worldSize, CollectiveKind.SCAN);
    }

    /**
     * Checks that an exclusive scan combines the operands of the ranks before each rank, and gives rank 0 the identity
     * of the op.
     *
     * @param worldSize number of ranks
     */
    @Rule(value = 128, apart = true)
    @EachSize
    default void exclusiveScanCombinesTheElementsOfTheRanksBeforeEachRank(int worldSize) {
        Cells.check(this, worldSize, CollectiveKind.EXCLUSIVE_SCAN);
    }

    /**
     * Checks that a barrier waits for the last rank. Each rank is the last one in turn.
     *
     * @param worldSize number of ranks
     */
    @Rule(109)
    @EachSize
    default void barrierLetsNobodyGoBeforeTheLastRankHasCome(int worldSize) {
        try (Ranks ranks = group(worldSize)) {
            for (int late = 0; late < worldSize; late++) {
                barrierWaitsFor(late, ranks);
            }
        }
    }

    /** Calls a barrier with one late rank, and checks that no other rank leaves the barrier early. */
    private static void barrierWaitsFor(int late, Ranks ranks) {
        CountDownLatch othersCalled = new CountDownLatch(ranks.size() - 1);
        AtomicInteger early = new AtomicInteger();
        AtomicInteger arrived = new AtomicInteger();
        ranks.run(group -> {
            if (group.rank() == late) {
                Expect.opens(othersCalled, "the other ranks have not called barrier");
                arrived.incrementAndGet();
                group.barrier();
                return;
            }
            Work waiting = group.barrierAsync();
            boolean before = waiting.await(Duration.ofMillis(10));
            early.addAndGet(before && arrived.get() == 0 ? 1 : 0);
            othersCalled.countDown();
            waiting.await();
            early.addAndGet(arrived.get() == 0 ? 1 : 0);
        });
        assertEquals(0, early.get(), "ranks that left the barrier before rank " + late + " of " + ranks.size());
    }

    /**
     * Checks that every kind of collective works at lengths of several chunks and of more than one segment.
     *
     * @param worldSize number of ranks
     */
    @Rule(value = 110, apart = true)
    @EachSize
    default void everyKindWorksAtAThousandElementsAndAboveASegment(int worldSize) {
        List<Cell> cells = new ArrayList<>();
        for (CollectiveKind kind : Cell.KINDS) {
            cells.addAll(Cell.ofLength(kind, worldSize, 1000));
        }
        if (worldSize == 2 || worldSize == 3) {
            for (CollectiveKind kind : Cell.KINDS) {
                cells.addAll(Cell.above(kind, worldSize, segmentBytes()));
            }
        }
        Cells.check(this, worldSize, cells);
    }
}
