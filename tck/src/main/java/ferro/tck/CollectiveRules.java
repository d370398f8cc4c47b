package ferro.tck;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.Collective;
import ferro.CollectiveKind;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.Work;
import ferro.group.ProcessGroup;
import ferro.tck.cells.CallFactory;
import ferro.tck.cells.Cell;
import ferro.tck.cells.ReferenceOracle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** Rules 101 to 110, 116, 117, 127 and 128, which check that every collective gives the result of a plain loop. */
interface CollectiveRules extends TestedBackend {
    /** Checks that an all-reduce leaves the combined elements of all ranks on every rank. */
    @Rule(value = 101, apart = true)
    default void allReduceCombinesTheElementsOfAllRanksOnEveryRank(int worldSize) {
        CellRunner.check(this, worldSize, CollectiveKind.ALL_REDUCE);
    }

    /** Checks that a broadcast copies the root's elements. */
    @Rule(value = 102, apart = true)
    default void broadcastCopiesTheElementsOfTheRootToEveryRank(int worldSize) {
        CellRunner.check(this, worldSize, CollectiveKind.BROADCAST);
    }

    /** Checks that a reduce writes its result on the root only. */
    @Rule(value = 103, apart = true)
    default void reduceCombinesOnTheRootAndLeavesTheOthersAlone(int worldSize) {
        CellRunner.check(this, worldSize, CollectiveKind.REDUCE);
    }

    /** Checks that an all-gather joins parts in rank order. */
    @Rule(value = 104, apart = true)
    default void allGatherJoinsThePartsOfAllRanksInRankOrder(int worldSize) {
        CellRunner.check(this, worldSize, CollectiveKind.ALL_GATHER);
    }

    /** Checks that a reduce-scatter leaves part r of the combined elements on rank r. */
    @Rule(value = 105, apart = true)
    default void reduceScatterLeavesEachRankItsPartOfTheCombinedElements(int worldSize) {
        CellRunner.check(this, worldSize, CollectiveKind.REDUCE_SCATTER);
    }

    /** Checks that a gather joins parts on the root. */
    @Rule(value = 106, apart = true)
    default void gatherJoinsThePartsOfAllRanksOnTheRoot(int worldSize) {
        CellRunner.check(this, worldSize, CollectiveKind.GATHER);
    }

    /** Checks that a scatter sends each rank its part of the root's elements. */
    @Rule(value = 107, apart = true)
    default void scatterHandsEachRankItsPartOfTheRootsElements(int worldSize) {
        CellRunner.check(this, worldSize, CollectiveKind.SCATTER);
    }

    /** Checks that an all-to-all sends part j to rank j. */
    @Rule(value = 108, apart = true)
    default void allToAllSendsPartJOfEachRankToRankJ(int worldSize) {
        CellRunner.check(this, worldSize, CollectiveKind.ALL_TO_ALL);
    }

    /** Checks that a scan combines the operands of the ranks up to each rank. */
    @Rule(value = 127, apart = true)
    default void scanCombinesTheElementsOfTheRanksUpToEachRank(int worldSize) {
        CellRunner.check(this, worldSize, CollectiveKind.SCAN);
    }

    /**
     * Checks that an exclusive scan combines the operands of all ranks before each rank. Rank 0 gets the identity of
     * the op.
     */
    @Rule(value = 128, apart = true)
    default void exclusiveScanCombinesTheElementsOfTheRanksBeforeEachRank(int worldSize) {
        CellRunner.check(this, worldSize, CollectiveKind.EXCLUSIVE_SCAN);
    }

    /** Checks that a barrier waits for the last rank. Each rank is the last rank in turn. */
    @Rule(109)
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
                RuleChecks.opens(othersCalled, "the other ranks have not called barrier");
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

    /** Checks that every kind of collective works at lengths of several chunks and of more than one segment. */
    @Rule(value = 110, apart = true)
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
        CellRunner.check(this, worldSize, cells);
    }

    /** Checks that parts of unequal length arrive where the counts require, in blocking and submitted calls. */
    @Rule(116)
    default void partsOfUnequalLengthComeWhereTheCountsSay(ProcessGroup group) {
        for (int length : new int[] {1, 1000, group.worldSize() <= 3 ? 70_000 : 10}) {
            for (Cell cell : Cell.ofUnequalParts(group.worldSize(), length)) {
                ReferenceOracle values = new ReferenceOracle(cell.type(), group.worldSize());
                CellRunner.make(this, group, cell, values, false);
                if (length == 1000) {
                    CellRunner.make(this, group, cell, values, true);
                }
            }
        }
        RuleChecks.works(group);
    }

    /** Checks that ranks that disagree on the length of one message of an all-to-all fail with a mismatch. */
    @Rule(value = 117, needs = MISMATCHES)
    default void countsOfAnAllToAllThatDoNotFitAreAMismatch() {
        float[][] received = new float[2][];
        List<Throwable> ends = outcomes(2, group -> {
            // each rank keeps one element; rank 0 sends three, rank 1 expects two
            boolean first = group.rank() == 0;
            float[] in = first ? new float[] {1, 2, 3, 4} : new float[] {5, 6};
            float[] out = new float[first ? 2 : 3];
            received[group.rank()] = out;
            long[] send = first ? new long[] {1, 3} : new long[] {1, 1};
            long[] receive = first ? new long[] {1, 1} : new long[] {2, 1};
            Collective call = Collective.allToAll(HostTensor.of(in), HostTensor.of(out), send, receive);
            if (!CellRunner.isRefused(this, group, call, "unequal parts")) {
                CallFactory.run(group, call);
                group.barrier();
            }
        });
        if (ends.get(1) != null) {
            // without a control lane the sender may only see a lost connection
            RuleChecks.failure(ends, 0, Code.MISMATCH, Code.PEER_LOST);
            RuleChecks.failure(ends, 1, Code.MISMATCH);
        }
        assertArrayEquals(
                new float[] {0, 0}, Arrays.copyOf(received[1], 2), "a message of the wrong length was written");
    }
}
