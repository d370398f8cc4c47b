package ferro.tck;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CollectiveKind;
import ferro.DataType;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.InvalidRankException;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.ProcessGroup;
import ferro.tck.cells.Cell;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Rules 601 to 612, about misuse of a group, the close of a group, and ranks that leave. */
interface CloseRules extends TestedBackend {
    /** Checks that after a rank has left, the next call of each other rank fails and names the rank that left. */
    @Rule(
            value = 601,
            ranks = {3, 4, 5},
            needs = ABORT_ACROSS_RANKS)
    default void peersOfAClosedRankFailInTheirFirstExtraCall(int worldSize) {
        List<List<Throwable>> outcomes;
        try (DepartedRankGroups groups = new DepartedRankGroups(this, worldSize)) {
            outcomes = groups.outcomes((group, leaver) -> {
                ProcessGroup patient = group.within(Duration.ofSeconds(20));
                RuleChecks.inTime(5000, "the news that rank " + leaver + " left", patient::barrier);
            });
        }
        for (int each = 0; each < worldSize; each++) {
            int leaver = each;
            Code[] codes = {Code.PEER_LOST, Code.ABORTED};
            for (FerroException failure : RuleChecks.failures(outcomes.get(leaver), rank -> rank != leaver, codes)) {
                RuleChecks.blames(failure, leaver);
                RuleChecks.says(failure, "rank " + leaver + " left", "after seq 1; this call is seq 2");
            }
        }
    }

    /** Checks that a closed group rejects all calls. A second close has no effect. */
    @Rule(value = 602, ranks = 2)
    default void callsAfterCloseAreRefusedButASecondCloseIsNot(ProcessGroup group) {
        RuleChecks.works(group);
        group.close();
        group.close();
        group.close(Duration.ofMillis(1));
        float[] data = {2, 3};
        List<Executable> calls = new ArrayList<>();
        calls.add(group::barrier);
        calls.add(() -> group.allReduce(data, ReduceOp.SUM));
        calls.add(() -> group.broadcastAsync(HostTensor.of(data), 0).await());
        calls.add(() -> group.send(data, 1 - group.rank(), 0));
        calls.add(() -> group.recv(data, 1 - group.rank(), 0));
        for (int number = 0; number < calls.size(); number++) {
            assertThrows(IllegalStateException.class, calls.get(number), "call " + number + " after close");
        }
        assertEquals(2, group.worldSize(), "world size of a closed group");
    }

    /** Checks that misuse is reported before data moves. After the report, the group still works on all ranks. */
    @Rule(value = 603, ranks = 3)
    default void misuseIsRefusedBeforeDataMovesAndTheGroupContinues(ProcessGroup group) {
        float[] two = {4, 5};
        float[] three = {6, 7, 8};
        illegal("broadcast: root 3 ", () -> group.broadcast(two, 3));
        illegal("reduce: root -1 ", () -> group.reduce(two, ReduceOp.SUM, -1));
        illegal("gather: root 7 ", () -> group.gather(two, null, 7));
        illegal("scatter: root 3 ", () -> group.scatter(null, two, 3));
        illegal("send: to 3 ", () -> group.send(two, 3, 0));
        illegal("recv: from -2 ", () -> group.recv(two, -2, 0));
        illegal("-5", () -> group.send(two, 0, -5));
        illegal("-5", () -> group.recv(two, 0, -5));
        illegal("need 6", () -> group.allGather(two, three));
        illegal("need 6", () -> group.reduceScatter(three, two, ReduceOp.SUM));
        illegal("2 elements", () -> group.allToAll(two, two.clone()));
        illegal("i32", () -> group.allGather(HostTensor.of(two), HostTensor.of(new int[6])));
        illegal("null", () -> group.gather(two, null, group.rank()));
        RuleChecks.refused(NullPointerException.class, () -> group.allReduce(two, null), "op is null");
        InvalidRankException root = assertThrows(InvalidRankException.class, () -> group.broadcast(two, 3));
        assertEquals(List.of(3, 3), List.of(root.rank(), root.worldSize()), "rank and world size of " + root);
        assertArrayEquals(new float[] {4, 5}, two, "memory of refused calls");
        RuleChecks.works(group);
    }

    private static void illegal(String says, Runnable call) {
        RuleChecks.refused(IllegalArgumentException.class, call, says);
    }

    /** Checks that {@code newGroup} rejects an unknown rank, a repeated rank, and a list without the caller. */
    @Rule(value = 604, ranks = 2, needs = SUBGROUPS)
    default void subgroupsOfNoOrRepeatedRanksAreRefused(ProcessGroup group) {
        illegal("newGroup: member 2 ", () -> group.newGroup(0, 2));
        illegal("twice", () -> group.newGroup(0, 1, 0));
        illegal("rank " + group.rank(), () -> group.newGroup(1 - group.rank()));
        RuleChecks.works(group);
    }

    /** Checks that a close returns within its time limit even if pending work can never complete. The work fails. */
    @Rule(605)
    default void closeEndsWithinItsLimitAndFailsPendingWork() {
        List<Throwable> outcomes = outcomes(2, group -> {
            if (group.rank() == 0) {
                Work never = group.barrierAsync();
                RuleChecks.inTime(3000, "close of 300 ms", () -> group.close(Duration.ofMillis(300)));
                RuleChecks.fails(each -> never.await(), group, Code.ABORTED, Code.TIMED_OUT);
                assertTrue(never.isDone(), "work of a closed group is still pending");
            }
        });
        RuleChecks.well(outcomes.subList(0, 1));
    }

    /** Checks that a close waits for queued work that can still complete. */
    @Rule(value = 606, ranks = 3)
    default void closeWaitsForQueuedWork(ProcessGroup group) {
        long[][] data = new long[30][];
        List<Work> queued = new ArrayList<>();
        for (int number = 0; number < data.length; number++) {
            data[number] = new long[] {number + group.rank()};
            queued.add(group.allReduceAsync(HostTensor.of(data[number]), ReduceOp.SUM));
        }
        group.close();
        for (int number = 0; number < data.length; number++) {
            queued.get(number).await();
            assertEquals(3L * number + 3, data[number][0], "operation " + number + ", queued before close");
        }
    }

    /** Checks that a view has its own deadline and shares everything else with its group. */
    @Rule(value = 607, ranks = 2)
    default void aViewWithADeadlineIsTheSameGroup(ProcessGroup group) {
        ProcessGroup view = group.within(Duration.ofSeconds(20));
        assertEquals(group.rank(), view.rank(), "rank of a view");
        assertEquals(1, view.barrierAsync().sequence(), "number of the first operation");
        view.close();
        Work second = group.barrierAsync();
        second.await();
        assertEquals(2, second.sequence(), "number of the second operation");
        ProcessGroup again = ProcessGroup.of(group.backend());
        Work third = again.barrierAsync();
        third.await();
        assertEquals(3, third.sequence(), "number of the third operation, by a second ProcessGroup");
        illegal("0", () -> group.within(Duration.ZERO));
    }

    /** Checks that a view with a label shares the queue of its group, and that messages match with any labels. */
    @Rule(value = 612, ranks = 2)
    default void aViewWithALabelIsTheSameGroup(ProcessGroup group) {
        ProcessGroup view = group.within(Duration.ofSeconds(20)).labelled("dense2.weight");
        assertEquals(1, view.barrierAsync().sequence(), "number of the first operation");
        RuleChecks.works(view);
        RuleChecks.works(view.within(Duration.ofSeconds(21)));
        RuleChecks.works(group.labelled("Schicht ü").labelled("dense2.bias"));
        int[] first = {3 + group.rank()};
        int[] second = {5};
        group.coalesced(() -> {
            view.allReduce(first, ReduceOp.SUM);
            group.allReduce(second, ReduceOp.SUM);
        });
        assertEquals(7, first[0], "sum in a block, with a label");
        assertEquals(10, second[0], "sum in a block, without a label");
        view.close();
        RuleChecks.passes(group.labelled(group.rank() == 0 ? "to" : "from"), 0, 1, 0, 11);
        illegal("1 to 128 characters", () -> group.labelled(""));
        illegal("found 129", () -> group.labelled("x".repeat(129)));
        illegal("U+000A", () -> group.labelled("two\nlines"));
    }

    /** Checks that the close of one rank, at any time, ends the first calls of its peers at once. */
    @Rule(
            value = 609,
            ranks = {2, 3, 5},
            needs = ABORT_ACROSS_RANKS)
    default void aCloseEndsTheFirstCallsOfItsPeersAtOnce(int worldSize) {
        long begun = System.nanoTime();
        // if a back end needs 250 ms to report a close, 6 turns are enough
        for (int turn = 0; turn < 30 && (turn < 6 || System.nanoTime() - begun < 2_000_000_000L); turn++) {
            int closes = turn % worldSize;
            CyclicBarrier together = new CyclicBarrier(worldSize);
            List<Throwable> outcomes = outcomes(worldSize, group -> {
                together.await(10, TimeUnit.SECONDS);
                if (group.rank() == closes) {
                    group.close();
                } else {
                    float[] data = new float[1000];
                    RuleChecks.inTime(5000, "the news of the close", () -> group.allReduce(data, ReduceOp.SUM));
                }
            });
            assertNull(outcomes.get(closes), "close of rank " + closes + ", turn " + turn);
            RuleChecks.failures(outcomes, rank -> rank != closes, Code.PEER_LOST)
                    .forEach(failure -> RuleChecks.blames(failure, closes));
        }
    }

    /** Checks that all threads of a group end when the group closes, even after a failure. */
    @Rule(608)
    default void noThreadOfAGroupOutlivesItsClose() {
        startThreadsOfDevices();
        GroupThreads threads = new GroupThreads();
        for (StageThreadCheck.LastCallState last : StageThreadCheck.LastCallState.values()) {
            try (Ranks ranks = group(StageThreadCheck.WORLD_SIZE)) {
                StageThreadCheck calls = new StageThreadCheck(this, threads);
                ranks.run(calls::makeAll);
                List<Throwable> outcomes = ranks.outcomes(Ranks.LIMIT, group -> calls.makeLast(group, last));
                RuleChecks.well(outcomes);
            }
            threads.closed(last.toString());
        }
        // the test waits once for the threads of all groups, because an idle thread may end only after some time
        threads.checkAllEnd();
    }

    /** Uses each device once before the groups are made, because the threads of device memory belong to the test. */
    private void startThreadsOfDevices() {
        for (int rank = 0; rank < StageThreadCheck.WORLD_SIZE; rank++) {
            try (DeviceOperands device = DeviceOperands.of(this, rank)) {
                device.tensor(HostTensor.of(new float[1]));
            }
        }
    }

    /** Checks that a rank that has made its calls may close, even if a peer makes its own calls much later. */
    @Rule(value = 610, needs = EARLY_LEAVES)
    @ParameterizedTest(name = "{0}")
    @MethodSource("ferro.tck.GroupWithLateRank#calls")
    default void ranksMayLeaveWhenTheirOwnCallsHaveReturned(String what) {
        switch (what) {
            case "messages" -> leaveAfterMessages();
            case "barrier" -> {
                for (int late = 0; late < 5; late++) {
                    new GroupWithLateRank(this, 5, late, late % 2 == 0).run(what, ProcessGroup::barrier);
                }
            }
            case "unequal parts" -> leaveAfterUnequalParts();
            case "newGroup" -> leaveAfterNewGroup();
            default -> leaveAfter(CollectiveKind.parse(what));
        }
    }

    /** Returns the first rank for index 0, a middle rank for index 1, and the last rank for index 2. */
    private static int rank(int index, int worldSize) {
        return index * (worldSize - 1) / 2;
    }

    /**
     * Makes short calls in groups of five and of four ranks. In groups of three and of four ranks, makes calls whose
     * chunks are all longer than a segment. The root varies, and in some calls the root is the late rank. If the back
     * end runs a selection, each of these four cases has one root.
     */
    private void leaveAfter(CollectiveKind kind) {
        boolean toRoot = kind.out() == CollectiveKind.DataShare.ALL_ON_ROOT;
        for (int odd : new int[] {5, 3}) {
            int above = kind.hasParts() ? aboveASegment() : 4 * aboveASegment();
            int length = odd == 5 ? 5 : above;
            for (int index = runsSelection() ? 2 : 0; index < 3; index++) {
                int root = rank(index, odd);
                ReduceOp op = kind.combines() ? ReduceOp.SUM : null;
                new GroupWithLateRank(this, odd, toRoot ? root : (root + 1) % odd, true)
                        .call(new Cell(kind, DataType.FLOAT32, op, length, root, false), true);
                new GroupWithLateRank(this, 4, (index + odd) % 4, false)
                        .call(new Cell(kind, DataType.FLOAT32, op, length, (index + odd + 2) % 4, false), true);
            }
        }
    }

    private void leaveAfterUnequalParts() {
        for (int length : new int[] {1, aboveASegment() / 2}) {
            int worldSize = length == 1 ? 5 : 4;
            for (int late = runsSelection() ? worldSize - 1 : 0; late < worldSize; late += worldSize - 1) {
                GroupWithLateRank ranks = new GroupWithLateRank(this, worldSize, late, length == 1);
                Cell.ofUnequalParts(worldSize, length).stream()
                        .filter(cell -> !cell.inPlace() || cell.op() == ReduceOp.AVG)
                        .forEach(cell -> ranks.call(cell, false));
            }
        }
    }

    /**
     * Sends a message from each rank to the next rank. The first rank leaves after its send, the last rank after its
     * receive.
     */
    private void leaveAfterMessages() {
        for (int length : new int[] {3, 10_000, 3 * aboveASegment()}) {
            for (int index = 0; index < 3; index++) {
                int[] data = RuleChecks.rising(length, 7 + index);
                for (boolean untilClosed : new boolean[] {true, false}) {
                    int worldSize = untilClosed ? 5 : 4;
                    GroupWithLateRank ranks =
                            new GroupWithLateRank(this, worldSize, rank(index, worldSize), untilClosed);
                    ranks.run("messages of " + length, group -> {
                        for (int from = 0; from < worldSize - 1; from++) {
                            RuleChecks.passes(group, from, from + 1, 0, data);
                        }
                    });
                }
            }
        }
    }

    /** Makes a new group, broadcasts in the new group, and closes the new group before its parent group. */
    private void leaveAfterNewGroup() {
        needs(SUBGROUPS);
        for (int index = 0; index < 3; index++) {
            for (boolean untilClosed : new boolean[] {true, false}) {
                int worldSize = untilClosed ? 5 : 4;
                int late = rank(index, worldSize);
                int root = (late + 1) % worldSize;
                new GroupWithLateRank(this, worldSize, late, untilClosed).run("newGroup and a broadcast", group -> {
                    ProcessGroup part =
                            group.newGroup(IntStream.range(0, group.worldSize()).toArray());
                    int[] data = {group.rank() == root ? 41 : 0};
                    part.broadcast(data, root);
                    assertEquals(41, data[0], "element that rank " + root + " has broadcast");
                    part.close();
                });
            }
        }
    }

    /**
     * Checks that a call fails if the call needs a rank that has left, and that the failure names the rank. Calls that
     * do not need the rank that has left still work. In each of several groups a different rank leaves.
     *
     * @param what call that needs the rank that has left; all remaining ranks make the call {@code newGroup}, but only
     *     one remaining rank makes any other call
     */
    @Rule(
            value = 611,
            needs = {EARLY_LEAVES, SUBGROUPS, ABORT_ACROSS_RANKS})
    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"barrier", "recv", "send", "newGroup"})
    default void callsThatDoNotNeedARankThatHasLeftContinue(String what) {
        boolean byAll = what.equals("newGroup");
        List<CountDownLatch> failed = IntStream.range(0, 5)
                .mapToObj(leaver -> new CountDownLatch(byAll ? 4 : 1))
                .toList();
        try (DepartedRankGroups groups = new DepartedRankGroups(this, 5)) {
            List<List<Throwable>> outcomes = groups.outcomes((group, leaver) -> {
                int[] others =
                        IntStream.range(0, 5).filter(rank -> rank != leaver).toArray();
                talk(group, others, 5);
                talk(group, others, 100_000);
                try (ProcessGroup rest = group.newGroup(others)) {
                    RuleChecks.works(rest);
                    if (byAll || group.rank() == (leaver + 1) % 5) {
                        failsWithout(leaver, group, what);
                        failed.get(leaver).countDown();
                    }
                    RuleChecks.opens(failed.get(leaver), what + " without rank " + leaver);
                    RuleChecks.works(rest);
                }
            });
            outcomes.forEach(RuleChecks::well);
        }
    }

    /** Sends a message from each member to the next member. The members with even positions send first. */
    private static void talk(ProcessGroup group, int[] members, int length) {
        for (int parity = 0; parity < 2; parity++) {
            for (int position = parity; position < members.length; position += 2) {
                int next = members[(position + 1) % members.length];
                RuleChecks.passes(group, members[position], next, 0, RuleChecks.rising(length, members[position] + 2));
            }
        }
    }

    private static void failsWithout(int leaver, ProcessGroup group, String what) {
        ProcessGroup patient = group.within(Duration.ofSeconds(10));
        FerroException failure = RuleChecks.fails(
                each -> {
                    switch (what) {
                        case "barrier" -> patient.barrier();
                        case "recv" -> patient.recv(new int[1], leaver, 0);
                        case "send" -> patient.send(new int[100_000], leaver, 0);
                        default -> patient.newGroup(group.rank(), leaver).close();
                    }
                },
                group,
                Code.PEER_LOST);
        RuleChecks.blames(failure, leaver);
        RuleChecks.says(failure, "rank " + leaver + " left");
    }
}
