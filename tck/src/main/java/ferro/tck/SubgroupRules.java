package ferro.tck;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ferro.DataType;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.tck.cells.Cell;
import ferro.tck.cells.ReferenceOracle;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rules 401 to 414, about groups of some ranks of a group. */
interface SubgroupRules extends TestedBackend {
    /** Checks that ranks with equal colors form a group, ordered by key, then rank. A negative color gives no group. */
    @Rule(value = 401, ranks = 6, needs = SUBGROUPS)
    default void splitGroupsRanksByColorAndOrdersThemByKey(ProcessGroup group) {
        int[] colors = {4, 9, 4, -1, 9, 4};
        int[] keys = {5, 1, -2, 0, 1, 5};
        int[][] order = {{2, 0, 5}, {1, 4}};
        int rank = group.rank();
        Optional<ProcessGroup> found = group.split(colors[rank], keys[rank]);
        assertEquals(colors[rank] >= 0, found.isPresent(), "only a negative color gives no group");
        found.ifPresent(part -> {
            try (part) {
                checkOrder(part, rank, order[colors[rank] == 4 ? 0 : 1]);
            }
        });
        RuleChecks.works(group);
    }

    /** Checks that ranks of one process are on one host, whose leader is rank 0. */
    @Rule(value = 414, ranks = 3, needs = SUBGROUPS)
    default void ranksOfOneProcessAreOnOneHost(ProcessGroup group) {
        try (ProcessGroup host = group.splitByHost()) {
            checkOrder(host, group.rank(), new int[] {0, 1, 2});
        }
        Optional<ProcessGroup> leaders = group.hosts();
        assertEquals(group.rank() == 0, leaders.isPresent(), "only the lowest rank of a host leads it");
        leaders.ifPresent(one -> {
            try (one) {
                checkOrder(one, 0, new int[] {0});
            }
        });
        RuleChecks.works(group);
    }

    private static void checkOrder(ProcessGroup part, int parentRank, int[] order) {
        assertEquals(order.length, part.worldSize(), "world size of the part of rank " + parentRank);
        assertEquals(parentRank, order[part.rank()], "parent's rank at rank " + part.rank() + " of the part");
        int[] found = new int[order.length];
        part.allGather(new int[] {parentRank}, found);
        for (int rank = 0; rank < order.length; rank++) {
            assertEquals(order[rank], found[rank], "parent's rank that rank " + rank + " of the part sends");
        }
    }

    /** Checks that a member's position in the list is its rank in the new group. Collectives work in the new group. */
    @Rule(value = 402, ranks = 4, needs = SUBGROUPS)
    default void newGroupRanksAreThePositionsInTheList(ProcessGroup group) {
        int[] members = {3, 0, 2};
        if (group.rank() != 1) {
            try (ProcessGroup part = group.newGroup(members)) {
                checkOrder(part, group.rank(), members);
                int[] data = {part.rank() == 1 ? 55 : 0};
                part.broadcast(data, 1);
                assertEquals(55, data[0], "element that rank 1 of the subgroup broadcasts");
                RuleChecks.works(part);
            }
        }
        RuleChecks.works(group);
    }

    /** Checks that a subgroup may be split again. The parent group still works. */
    @Rule(value = 403, ranks = 5, needs = SUBGROUPS)
    default void aSubgroupMayBeSplitAgain(ProcessGroup group) {
        group.split(group.rank() == 0 ? -1 : 1, -group.rank()).ifPresent(part -> divideAgain(part, group.rank()));
        RuleChecks.works(group);
    }

    private static void divideAgain(ProcessGroup part, int parentRank) {
        try (part) {
            try (ProcessGroup pair = part.split(part.rank() / 2, 0).orElseThrow()) {
                int low = parentRank <= 2 ? 1 : 3;
                checkOrder(pair, parentRank, new int[] {low + 1, low});
            }
            RuleChecks.works(part);
        }
    }

    /** Checks that a group with a late member does not block other groups, even if the groups share ranks. */
    @Rule(value = 404, needs = SUBGROUPS)
    default void overlappingGroupsDoNotWaitForEachOther() {
        CountDownLatch rightDone = new CountDownLatch(2);
        eachRank(3, group -> {
            int rank = group.rank();
            ProcessGroup left = rank < 2 ? group.newGroup(0, 1) : null;
            ProcessGroup right = rank > 0 ? group.newGroup(1, 2) : null;
            var pending = rank == 1 ? left.barrierAsync() : null;
            if (right != null) {
                RuleChecks.works(right);
                rightDone.countDown();
            }
            if (rank == 0) {
                RuleChecks.opens(rightDone, "ranks 1 and 2 wait for rank 0's other group");
                left.barrier();
            }
            if (pending != null) {
                pending.await();
            }
            RuleChecks.works(group);
            closeAll(left, right);
        });
    }

    private static void closeAll(ProcessGroup... groups) {
        for (ProcessGroup group : groups) {
            if (group != null) {
                group.close();
            }
        }
    }

    /** Checks that members that pass different lists fail at once, not at the deadline. */
    @Rule(405)
    default void membersThatPassDifferentListsFailAtOnce() {
        disagree(2, new int[] {0, 2, 1, 4, 3});
    }

    /** Checks that all members of a list fail at once, with both lists, if one member passes another list. */
    private void disagree(int odd, int[] other) {
        needs(SUBGROUPS, MISMATCHES);
        int[] members = {0, 1, 2, 3, 4};
        List<Throwable> outcomes = outcomes(5, group -> {
            ProcessGroup patient = group.within(Duration.ofSeconds(60));
            int[] list = group.rank() == odd ? other : members;
            RuleChecks.inTime(20_000, "the report of the disagreement", () -> patient.newGroup(list));
        });
        RuleChecks.failures(outcomes, rank -> true, Code.MISMATCH)
                .forEach(failure -> RuleChecks.says(failure, Arrays.toString(members), Arrays.toString(other)));
    }

    /** Checks that a member that never calls is named at the deadline. */
    @Rule(value = 406, needs = SUBGROUPS)
    default void aMemberThatNeverCallsIsNamedAtTheDeadline() {
        List<Throwable> outcomes = outcomes(5, group -> {
            if (group.rank() != 1) {
                group.within(Duration.ofMillis(400)).newGroup(0, 1, 2, 3, 4);
            }
        });
        for (FerroException failure : RuleChecks.failures(outcomes, rank -> rank != 1, Code.TIMED_OUT, Code.ABORTED)) {
            if (!refuses(ABORT_ACROSS_RANKS)) {
                RuleChecks.blames(failure, 1);
            }
        }
    }

    /** Checks that a failure of one subgroup does not affect its sibling group or its parent group. */
    @Rule(
            value = 407,
            needs = {SUBGROUPS, MISMATCHES})
    default void aFailureInOneGroupDoesNotAffectItsSiblingOrParent() {
        CountDownLatch failed = new CountDownLatch(2);
        eachRank(4, group -> {
            ProcessGroup half = group.split(group.rank() / 2, 0).orElseThrow();
            if (group.rank() < 2) {
                int[] data = new int[group.rank() + 4];
                RuleChecks.fails(each -> each.allReduce(data, ReduceOp.SUM), half, Code.MISMATCH);
                failed.countDown();
            } else {
                // both ranks must leave this loop after the same call
                for (int[] goOn = {1}; goOn[0] > 0; half.allReduce(goOn, ReduceOp.MAX)) {
                    RuleChecks.works(half);
                    goOn[0] = (int) failed.getCount();
                }
                RuleChecks.works(half);
                half.close();
            }
            RuleChecks.works(group);
            try (ProcessGroup again = group.split(group.rank() / 2, 0).orElseThrow()) {
                RuleChecks.works(again);
            }
            closeFailed(half, group.rank() < 2);
        });
    }

    private static void closeFailed(ProcessGroup half, boolean failed) {
        try {
            half.close();
        } catch (FerroException again) {
            if (!failed) {
                throw again;
            }
        }
    }

    /** Checks that each call with the same list makes a new group. */
    @Rule(value = 408, ranks = 2, needs = SUBGROUPS)
    default void theSameListMakesANewGroupEachTime(ProcessGroup group) {
        ProcessGroup first = group.newGroup(1, 0);
        ProcessGroup second = group.newGroup(1, 0);
        var early = group.rank() == 0 ? first.barrierAsync() : null;
        RuleChecks.works(second);
        if (early == null) {
            first.barrier();
        } else {
            early.await();
        }
        closeAll(first);
        RuleChecks.works(second);
        closeAll(second);
    }

    /** Checks that the close of a subgroup leaves its parent group and its sibling groups open. */
    @Rule(value = 409, ranks = 3, needs = SUBGROUPS)
    default void closingASubgroupLeavesItsParentAndSiblingsOpen(ProcessGroup group) {
        for (int turn = 0; turn < 10; turn++) {
            try (ProcessGroup kept = group.split(0, 0).orElseThrow()) {
                group.split(0, -group.rank()).orElseThrow().close();
                RuleChecks.works(kept);
            }
            RuleChecks.works(group);
        }
    }

    /**
     * Checks that a back end without subgroups refuses them with a reason, and that the group still works after the
     * refusal.
     */
    @Rule(value = 410, ranks = 2)
    default void subgroupsAreMadeOrRefusedWithAReason(ProcessGroup group) {
        if (refuses(SUBGROUPS)) {
            UnsupportedOperationException refusal =
                    assertThrows(UnsupportedOperationException.class, () -> group.newGroup(0, 1));
            assertNotNull(refusal.getMessage(), "a refusal has no message");
        } else {
            group.newGroup(0, 1).close();
        }
        RuleChecks.works(group);
    }

    /** Checks that after a disagreement has been reported, the next list that is equal on all members makes a group. */
    @Rule(
            value = 411,
            ranks = 5,
            needs = {SUBGROUPS, MISMATCHES})
    default void membersMayAgreeAfterADisagreement(ProcessGroup group) {
        for (int turn = 0; turn < 6; turn++) {
            int[] list = group.rank() == turn % 5 ? new int[] {0, 2, 1, 3, 4} : new int[] {0, 1, 2, 3, 4};
            RuleChecks.fails(each -> each.newGroup(list), group, Code.MISMATCH);
            if (turn % 2 == 0) {
                // in some turns the slowest rank fails before any rank calls again
                RuleChecks.works(group);
            }
            try (ProcessGroup agreed = group.newGroup(2, 0, 4, 1, 3)) {
                checkOrder(agreed, group.rank(), new int[] {2, 0, 4, 1, 3});
                RuleChecks.works(agreed);
            }
        }
    }

    /**
     * Checks that all members fail at once if their lists contain different ranks. In this test, some pairs of members
     * exchange no messages.
     *
     * @param odd rank that passes a smaller list, of itself and rank 1
     */
    @Rule(412)
    @ParameterizedTest(name = "rank {0}")
    @ValueSource(ints = {0, 2, 4})
    default void membersThatDisagreeAboutTheMembersAllFailAtOnce(int odd) {
        disagree(odd, new int[] {Math.min(odd, 1), Math.max(odd, 1)});
    }

    /** Checks that in a large subgroup, the rank of a member is its position in the list, which may have any order. */
    @Rule(value = 413, needs = SUBGROUPS)
    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"6,5,4,3,2,1,0", "3,4,5,6,0,1,2", "5,2,6,0,3"})
    default void ranksOfALargeSubgroupAreThePositionsInTheList(String members) {
        int[] order =
                Arrays.stream(members.split(",")).mapToInt(Integer::parseInt).toArray();
        List<Cell> cells = Cell.withEachRoot(order.length, 5);
        ReferenceOracle values = new ReferenceOracle(DataType.FLOAT32, order.length);
        eachRank(7, group -> {
            if (IntStream.of(order).anyMatch(rank -> rank == group.rank())) {
                try (ProcessGroup part = group.newGroup(order)) {
                    checkOrder(part, group.rank(), order);
                    exchangeInPairs(part, order);
                    cells.forEach(cell -> CellRunner.make(this, part, cell, values, true));
                }
            }
            RuleChecks.works(group);
        });
    }

    /** Sends a message from each rank to each other rank. The pairs of ranks exchange messages in a fixed order. */
    private static void exchangeInPairs(ProcessGroup part, int[] order) {
        for (int low = 0; low < order.length; low++) {
            for (int high = low + 1; high < order.length; high++) {
                // the message has the ranks of the sender and of the receiver in the parent group
                RuleChecks.passes(part, low, high, 0, order[low], order[high]);
                RuleChecks.passes(part, high, low, 0, order[high], order[low]);
            }
        }
    }
}
