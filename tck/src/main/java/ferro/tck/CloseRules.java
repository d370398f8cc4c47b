package ferro.tck;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.InvalidRankException;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.ProcessGroup;
import ferro.tck.parts.ThreadsOfGroups;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rules 601 to 609 and 612, about misuse of a group and about the close of a group. */
public interface CloseRules extends Subject {
    /**
     * Checks that after a rank has left, the next call of each other rank fails and names the rank that left. Earlier
     * calls do not fail. In each of several groups a different rank leaves.
     *
     * @param worldSize number of ranks
     */
    @Rule(601)
    @ParameterizedTest(name = "{0} ranks")
    @ValueSource(ints = {3, 4, 5})
    default void peersOfAClosedRankFailInTheirFirstExtraCall(int worldSize) {
        needs(BackendContract.ABORT_ACROSS_RANKS);
        List<List<Throwable>> outcomes;
        try (EachRankLeaves groups = new EachRankLeaves(this, worldSize)) {
            outcomes = groups.outcomes((group, leaver) -> {
                ProcessGroup patient = group.within(Duration.ofSeconds(20));
                Expect.inTime(5000, "the news that rank " + leaver + " left", patient::barrier);
            });
        }
        for (int each = 0; each < worldSize; each++) {
            int leaver = each;
            Code[] codes = {Code.PEER_LOST, Code.ABORTED};
            for (FerroException failure : Expect.failures(outcomes.get(leaver), rank -> rank != leaver, codes)) {
                Expect.blames(failure, leaver);
                Expect.says(failure, "rank " + leaver + " left", "after seq 1; this call is seq 2");
            }
        }
    }

    /** Checks that a closed group rejects all calls. A second close has no effect. */
    @Rule(602)
    @Test
    default void callsAfterCloseAreRefusedButASecondCloseIsNot() {
        eachRank(2, group -> {
            Expect.works(group);
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
        });
    }

    /** Checks that misuse is reported before data moves. The group still works on all ranks afterwards. */
    @Rule(603)
    @Test
    default void misuseIsRefusedBeforeDataMovesAndTheGroupContinues() {
        eachRank(3, group -> {
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
            Expect.refused(NullPointerException.class, () -> group.allReduce(two, null), "op is null");
            InvalidRankException root = assertThrows(InvalidRankException.class, () -> group.broadcast(two, 3));
            assertEquals(List.of(3, 3), List.of(root.rank(), root.worldSize()), "rank and world size of " + root);
            assertArrayEquals(new float[] {4, 5}, two, "memory of refused calls");
            Expect.works(group);
        });
    }

    private static void illegal(String says, Runnable call) {
        Expect.refused(IllegalArgumentException.class, call, says);
    }

    /**
     * Checks that {@code newGroup} rejects a rank outside the group, a rank that is listed twice, and a list without
     * the calling rank.
     */
    @Rule(604)
    @Test
    default void subgroupsOfNoOrRepeatedRanksAreRefused() {
        needs(BackendContract.SUBGROUPS);
        eachRank(2, group -> {
            illegal("newGroup: member 2 ", () -> group.newGroup(0, 2));
            illegal("twice", () -> group.newGroup(0, 1, 0));
            illegal("rank " + group.rank(), () -> group.newGroup(1 - group.rank()));
            Expect.works(group);
        });
    }

    /** Checks that a close returns within its time limit even if pending work can never complete. That work fails. */
    @Rule(605)
    @Test
    default void closeEndsWithinItsLimitAndFailsPendingWork() {
        List<Throwable> outcomes = outcomes(2, group -> {
            if (group.rank() == 0) {
                Work never = group.barrierAsync();
                Expect.inTime(3000, "close of 300 ms", () -> group.close(Duration.ofMillis(300)));
                Expect.fails(each -> never.await(), group, Code.ABORTED, Code.TIMED_OUT);
                assertTrue(never.isDone(), "work of a closed group is still pending");
            }
        });
        Expect.well(outcomes.subList(0, 1));
    }

    /** Checks that a close waits for queued work that can still complete. */
    @Rule(606)
    @Test
    default void closeWaitsForQueuedWork() {
        eachRank(3, group -> {
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
        });
    }

    /** Checks that a view has its own deadline and shares everything else with its group. */
    @Rule(607)
    @Test
    default void aViewWithADeadlineIsTheSameGroup() {
        eachRank(2, group -> {
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
        });
    }

    /**
     * Checks that a view with a label shares the queue of its group. A label and a deadline can be combined in either
     * order. A message may be sent with one label and received with another label.
     */
    @Rule(612)
    @Test
    default void aViewWithALabelIsTheSameGroup() {
        eachRank(2, group -> {
            ProcessGroup view = group.within(Duration.ofSeconds(20)).labelled("dense2.weight");
            assertEquals(1, view.barrierAsync().sequence(), "number of the first operation");
            Expect.works(view);
            Expect.works(view.within(Duration.ofSeconds(21)));
            Expect.works(group.labelled("Schicht ü").labelled("dense2.bias"));
            int[] first = {3 + group.rank()};
            int[] second = {5};
            group.coalesced(() -> {
                view.allReduce(first, ReduceOp.SUM);
                group.allReduce(second, ReduceOp.SUM);
            });
            assertEquals(7, first[0], "sum in a block, with a label");
            assertEquals(10, second[0], "sum in a block, without a label");
            view.close();
            Expect.passes(group.labelled(group.rank() == 0 ? "to" : "from"), 0, 1, 0, 11);
            illegal("1 to 128 characters", () -> group.labelled(""));
            illegal("found 129", () -> group.labelled("x".repeat(129)));
            illegal("U+000A", () -> group.labelled("two\nlines"));
        });
    }

    /**
     * Checks that the close of one rank ends the first calls of its peers at once. The rank may close at any time
     * during the first calls of its peers, even while a call opens a connection.
     *
     * @param worldSize number of ranks
     */
    @Rule(609)
    @ParameterizedTest(name = "{0} ranks")
    @ValueSource(ints = {2, 3, 5})
    default void aCloseEndsTheFirstCallsOfItsPeersAtOnce(int worldSize) {
        needs(BackendContract.ABORT_ACROSS_RANKS);
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
                    Expect.inTime(5000, "the news of the close", () -> group.allReduce(data, ReduceOp.SUM));
                }
            });
            assertNull(outcomes.get(closes), "close of rank " + closes + ", turn " + turn);
            Expect.failures(outcomes, rank -> rank != closes, Code.PEER_LOST)
                    .forEach(failure -> Expect.blames(failure, closes));
        }
    }

    /**
     * Checks that all threads of a group end when it closes, even after a failure. This includes threads that run
     * stages and listeners of users.
     */
    @Rule(608)
    @Test
    default void noThreadOfAGroupOutlivesItsClose() {
        startThreadsOfDevices();
        ThreadsOfGroups threads = new ThreadsOfGroups();
        for (StagedCalls.LastCalls last : StagedCalls.LastCalls.values()) {
            try (Ranks ranks = group(StagedCalls.WORLD_SIZE)) {
                StagedCalls calls = new StagedCalls(this, threads);
                ranks.run(calls::makeAll);
                List<Throwable> outcomes = ranks.outcomes(Ranks.LIMIT, group -> calls.makeLast(group, last));
                Expect.well(outcomes);
            }
            threads.closed(last.toString());
        }
        // the test waits once for the threads of all groups, because an idle thread may wait for more work before it
        // ends
        threads.checkAllEnd();
    }

    /** Uses each device once: device memory threads belong to the test, so they must start before the groups. */
    private void startThreadsOfDevices() {
        for (int rank = 0; rank < StagedCalls.WORLD_SIZE; rank++) {
            try (OnDevice device = OnDevice.of(this, rank)) {
                device.tensor(HostTensor.of(new float[1]));
            }
        }
    }
}
