package ferro.tck;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Collective;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.ProcessGroup;
import ferro.spi.Settings;
import ferro.tck.cells.CallFactory;
import ferro.tck.cells.DifferingCall;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Rules 501 to 511 check that a failure of one rank soon fails all ranks and names the rank. Rules 517 and 518 check
 * labels.
 */
interface FailureRules extends TestedBackend {
    /** Checks that if the last rank makes a different call, the failure on every rank names both calls. */
    @Rule(value = 501, needs = MISMATCHES)
    @ParameterizedTest(name = "{0}, {1} ranks")
    @CsvSource({
        "kind,2",
        "kind,3",
        "kind,4",
        "count,2",
        "count,3",
        "count,5",
        "type,2",
        "type,3",
        "type,4",
        "op,2",
        "op,3",
        "op,5",
        "root,2",
        "root,3",
        "root,4",
        "order,2",
        "order,3",
        "reduced,3",
        "reduced,4",
        "part,2",
        "part,3",
        "part,4",
        "counts,2",
        "counts,3",
        "counts,4"
    })
    default void ranksThatMakeDifferentCallsAllFailWithBothTexts(String field, int worldSize) {
        try (Ranks ranks = group(worldSize)) {
            Collective unequal = DifferingCall.ofUnequalParts(worldSize);
            if (field.equals("counts")
                    && CallFactory.refusal(ranks.rank(0), unequal).isPresent()) {
                refused("unequal parts");
                return;
            }
            differ(ranks, field);
        }
    }

    /** Checks that if ranks use different algorithms, the failure on every rank names both algorithms. */
    @Rule(
            value = 509,
            ranks = {2, 3, 4},
            needs = MISMATCHES)
    default void ranksThatUseDifferentAlgorithmsAllFailWithBothTexts(int worldSize) {
        List<Map<String, String>> settings = new ArrayList<>();
        for (int rank = 0; rank < worldSize; rank++) {
            String algorithm = rank < worldSize - 1 ? "allReduce=ring" : "allReduce=recursiveDoubling";
            settings.add(Map.of(Settings.ALGORITHM.name(), algorithm));
        }
        try (Ranks ranks = group(settings)) {
            differ(ranks, "algorithm");
        }
    }

    /** Checks that if labels differ or a label is missing, the failure on each rank names both calls and labels. */
    @Rule(
            value = 517,
            needs = {MISMATCHES, LABELS})
    @ParameterizedTest(name = "{0}, {1} ranks")
    @CsvSource({"label,2", "no label,2", "label,3", "no label,4"})
    default void ranksWhoseLabelsDifferAllFailWithBothTexts(String field, int worldSize) {
        try (Ranks ranks = group(worldSize)) {
            differ(ranks, field);
        }
    }

    /** Checks that the failure of a call names the call with its label, for every failed rank and every cause. */
    @Rule(518)
    default void aFailedCallIsNamedWithItsLabel() {
        try (Ranks ranks = group(3)) {
            List<Throwable> outcomes = ranks.outcomes(Ranks.LIMIT, group -> {
                if (group.rank() < 2) {
                    ProcessGroup hasty = group.labelled("dense2.weight").within(Duration.ofMillis(300));
                    hasty.allReduce(new float[] {2, 3}, ReduceOp.SUM);
                }
            });
            for (int rank = 0; rank < 2; rank++) {
                FerroException failure = RuleChecks.failure(outcomes, rank, codesOfAMissingRank());
                RuleChecks.says(failure, "allReduce \"dense2.weight\"");
                assertEquals("allReduce \"dense2.weight\"", failure.where().operation(), "where() on rank " + rank);
                refusesByLabel(ranks.rank(rank));
            }
        }
    }

    private static void refusesByLabel(ProcessGroup group) {
        ProcessGroup labelled = group.labelled("last loss");
        FerroException refused =
                assertThrows(FerroException.class, () -> labelled.send(HostTensor.of(new float[1]), 2, 0));
        assertEquals("send \"last loss\"", refused.where().operation(), refused.getMessage());
    }

    private void differ(Ranks ranks, String field) {
        DifferingCall[] calls = new DifferingCall[ranks.size()];
        for (int rank = 0; rank < calls.length; rank++) {
            calls[rank] = new DifferingCall(field, rank, calls.length);
        }
        List<Throwable> outcomes = ranks.outcomes(Ranks.LIMIT, group -> {
            ProcessGroup hasty = group.within(Duration.ofMillis(allEnd() ? 20_000 : 300));
            calls[group.rank()].make(hasty);
            // the call of a rank that only sends may succeed; the next call of that rank must then fail
            hasty.barrier();
        });
        int mismatches = 0;
        for (int rank = 0; rank < calls.length; rank++) {
            FerroException failure = RuleChecks.failure(outcomes, rank, codesOfAMismatch());
            mismatches += failure.code() == Code.MISMATCH ? 1 : 0;
            if (allEnd()) {
                RuleChecks.says(failure, DifferingCall.texts(field));
            }
            assertNull(calls[rank].wrong(), "memory after calls that differ in " + field);
        }
        assertTrue(mismatches > 0 || calls.length > 2, "no rank failed with MISMATCH: " + outcomes);
    }

    private boolean allEnd() {
        return !refuses(ABORT_ACROSS_RANKS);
    }

    /**
     * Returns the codes that a rank may report for a mismatch. Without a control lane, only a rank that detects the
     * mismatch can report MISMATCH. The other ranks time out or lose a peer.
     */
    private Code[] codesOfAMismatch() {
        return allEnd() ? new Code[] {Code.MISMATCH} : new Code[] {Code.MISMATCH, Code.TIMED_OUT, Code.PEER_LOST};
    }

    /**
     * Returns the codes that a rank may report if another rank is missing. Without a control lane, a rank may first
     * lose a peer that timed out and closed its connection.
     */
    private Code[] codesOfAMissingRank() {
        return allEnd()
                ? new Code[] {Code.TIMED_OUT, Code.ABORTED}
                : new Code[] {Code.TIMED_OUT, Code.ABORTED, Code.PEER_LOST};
    }

    /** Checks that at the deadline, the ranks that waited name the rank that never calls. */
    @Rule(502)
    @ParameterizedTest(name = "rank {1} of {0}")
    @CsvSource({"2,1", "3,0", "5,4"})
    default void aRankThatNeverCallsIsNamedAtTheDeadline(int worldSize, int late) {
        try (Ranks ranks = group(worldSize)) {
            List<Throwable> outcomes = ranks.outcomes(Ranks.LIMIT, group -> {
                if (group.rank() != late) {
                    group.within(Duration.ofMillis(400)).allReduce(new float[1000], ReduceOp.SUM);
                }
            });
            boolean isTimeOut = false;
            for (int rank = 0; rank < worldSize; rank++) {
                if (rank != late) {
                    FerroException failure = RuleChecks.failure(outcomes, rank, codesOfAMissingRank());
                    isTimeOut |= failure.code() == Code.TIMED_OUT;
                    assertEquals(rank, failure.where().rank(), "rank in where() of the failure");
                    if (allEnd()) {
                        RuleChecks.blames(failure, late);
                    }
                }
            }
            assertTrue(isTimeOut, "no rank failed with TIMED_OUT: " + outcomes);
            if (allEnd()) {
                // data that the other ranks sent before their time-out may still complete the first call of this rank
                Ranks.RankCode calls = group -> {
                    group.allReduce(new float[1000], ReduceOp.SUM);
                    group.barrier();
                };
                RuleChecks.fails(calls, ranks.rank(late), Code.TIMED_OUT, Code.ABORTED);
            }
        }
    }

    /** Checks that an interrupted wait fails the group. The other ranks report which rank was interrupted. */
    @Rule(503)
    default void anInterruptedWaitFailsTheGroupAndNamesItsRank() {
        AtomicReference<Thread> waiting = new AtomicReference<>();
        CountDownLatch calling = new CountDownLatch(1);
        CountDownLatch interrupted = new CountDownLatch(1);
        List<Throwable> outcomes = outcomes(5, group -> {
            if (group.rank() == 0) {
                waiting.set(Thread.currentThread());
                calling.countDown();
                RuleChecks.fails(ProcessGroup::barrier, group, Code.INTERRUPTED);
                interrupted.countDown();
                assertTrue(Thread.interrupted(), "the interrupt flag was not set again");
            } else if (group.rank() != 2) {
                barrierTwice(group);
            } else {
                RuleChecks.opens(calling, "rank 0 has not called");
                // rank 0 most likely waits after 20 ms; an interrupt before its wait must have the same effect
                assertFalse(interrupted.await(20, TimeUnit.MILLISECONDS), "rank 0 ended before its interrupt");
                waiting.get().interrupt();
                RuleChecks.opens(interrupted, "rank 0 has not ended 10 s after its interrupt");
                barrierTwice(group);
            }
        });
        assertNull(outcomes.get(0), "outcome of the checks on rank 0");
        RuleChecks.failures(outcomes, rank -> rank > 0 && allEnd(), Code.ABORTED)
                .forEach(failure -> RuleChecks.blames(failure, 0));
    }

    /**
     * Calls a barrier twice. The first call may succeed, because all ranks make the first call. The second call must
     * fail.
     */
    private void barrierTwice(ProcessGroup group) {
        ProcessGroup view = allEnd() ? group : group.within(Duration.ofSeconds(1));
        view.barrier();
        view.barrier();
    }

    /** Checks that an abort fails all pending work on all ranks. A second abort does not change the failure's cause. */
    @Rule(value = 504, needs = ABORT_ACROSS_RANKS)
    default void anAbortEndsPendingAndLaterCallsOfAllRanks() {
        CountDownLatch pending = new CountDownLatch(4);
        try (Ranks ranks = group(5)) {
            ranks.run(group -> {
                if (group.rank() == 2) {
                    RuleChecks.opens(pending, "the other ranks have not called");
                    group.abort(new IllegalStateException("out of paper"));
                    group.abort(new IllegalStateException("out of ink"));
                } else {
                    List<Work> queued = List.of(
                            group.barrierAsync(), group.allReduceAsync(HostTensor.of(new int[9]), ReduceOp.SUM));
                    pending.countDown();
                    for (Work work : queued) {
                        RuleChecks.blames(RuleChecks.fails(each -> work.await(), group, Code.ABORTED), 2);
                    }
                }
                FerroException later = RuleChecks.fails(ProcessGroup::barrier, group, Code.ABORTED);
                RuleChecks.says(later, "out of paper");
                RuleChecks.blames(later, 2);
            });
            ranks.outcomes(Ranks.LIMIT, ProcessGroup::close);
        }
    }

    /**
     * Checks that a thread that does not use a group may abort the group. The abort ends a blocking call of the same
     * rank.
     */
    @Rule(505)
    default void anAbortEndsABlockingCallOfItsRank() {
        CountDownLatch calling = new CountDownLatch(1);
        try (Ranks ranks = group(2)) {
            RuleChecks.onThread(() -> {
                RuleChecks.opens(calling, "rank 0 has not called");
                ranks.rank(0).abort(new IllegalStateException("out of paper"));
            });
            List<Throwable> outcomes = ranks.outcomes(Ranks.LIMIT, group -> {
                if (group.rank() == 0) {
                    calling.countDown();
                    group.within(Duration.ofSeconds(20)).barrier();
                }
            });
            RuleChecks.says(RuleChecks.failure(outcomes, 0, Code.ABORTED), "out of paper");
        }
    }

    /** Checks that a failed group stays failed, and later calls fail at once. */
    @Rule(506)
    default void everyCallAfterAFailureFailsAtOnce() {
        List<Throwable> outcomes = outcomes(2, group -> {
            ProcessGroup hasty = group.within(Duration.ofMillis(allEnd() ? 20_000 : 300));
            float[] data = new float[4 + group.rank()];
            if (refuses(MISMATCHES)) {
                group.abort(new IllegalStateException("out of paper"));
            } else {
                RuleChecks.fails(each -> each.allReduce(data, ReduceOp.SUM), hasty, codesOfAMismatch());
            }
            RuleChecks.inTime(2000, "calls after a failure", () -> {
                FerroException first = RuleChecks.fails(ProcessGroup::barrier, group, Code.values());
                RuleChecks.fails(each -> each.barrierAsync().await(), group, Code.values());
                RuleChecks.fails(each -> each.send(data, 1 - group.rank(), 0), group, first.code());
            });
        });
        RuleChecks.well(outcomes);
    }

    /** Checks that after a failed call has returned, only the caller writes to the memory of the call. */
    @Rule(507)
    default void memoryOfAFailedCallIsNotWritten() {
        float[] given = RuleChecks.floats(200_000, 7);
        CountDownLatch refilled = new CountDownLatch(1);
        float[] data = new float[given.length];
        List<Throwable> outcomes = outcomes(2, group -> {
            if (group.rank() == 0) {
                Ranks.RankCode call = each -> each.allReduce(data, ReduceOp.SUM);
                RuleChecks.fails(call, group.within(Duration.ofMillis(200)), Code.TIMED_OUT);
                System.arraycopy(given, 0, data, 0, given.length);
                refilled.countDown();
            } else {
                RuleChecks.opens(refilled, "rank 0 has not timed out");
                group.within(Duration.ofSeconds(2)).allReduce(new float[given.length], ReduceOp.SUM);
            }
        });
        RuleChecks.failure(outcomes, 1, Code.ABORTED, Code.TIMED_OUT, Code.PEER_LOST);
        RuleChecks.well(outcomes.subList(0, 1));
        // a wrong write may come shortly after the failure
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
        assertArrayEquals(given, data, "memory of rank 0 after its call had failed");
    }

    /** Checks that a rank may call at any time before the deadline, even if the other ranks have waited long. */
    @Rule(508)
    default void aLateRankWithinTheDeadlineIsAccepted() {
        CountDownLatch waiting = new CountDownLatch(2);
        eachRank(3, group -> {
            long[] data = {group.rank() + 5, 11};
            if (group.rank() == 1) {
                RuleChecks.opens(waiting, "ranks 0 and 2 have not called");
                group.allReduce(data, ReduceOp.SUM);
            } else {
                Work work = group.within(Duration.ofSeconds(20)).allReduceAsync(HostTensor.of(data), ReduceOp.SUM);
                work.await(Duration.ofMillis(50));
                waiting.countDown();
                work.await();
            }
            assertArrayEquals(new long[] {18, 33}, data, "sum on rank " + group.rank());
        });
    }

    /** Checks that only the rank that never called is blamed, even if the other ranks have queued many operations. */
    @Rule(value = 511, needs = ABORT_ACROSS_RANKS)
    default void onlyTheMissingRankIsNamedHoweverManyOperationsAreQueued() {
        int missing = 2;
        List<Throwable> outcomes = outcomes(4, group -> {
            if (group.rank() != missing) {
                ProcessGroup hasty = group.within(Duration.ofMillis(1500));
                Work first = hasty.barrierAsync();
                for (int queued = 0; queued < 2500; queued++) {
                    hasty.barrierAsync();
                }
                first.await();
            }
        });
        for (FerroException failure : RuleChecks.failures(outcomes, rank -> rank != missing, Code.TIMED_OUT)) {
            assertEquals(Set.of(missing), failure.where().culprits(), "ranks to blame: " + failure);
        }
    }
}
