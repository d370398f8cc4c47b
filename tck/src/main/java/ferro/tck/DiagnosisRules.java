package ferro.tck;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Collective;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.GroupEvent;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.ProcessGroup;
import ferro.tck.cells.CallFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Rules 512 to 516, 530, 531, 217 and 218, about the failure that a group reports and about the failure's message. */
interface DiagnosisRules extends TestedBackend {
    /**
     * Checks that all ranks report the same cause of a failure, even after later calls.
     *
     * @param fault    fault that the test causes
     * @param code     code that the ranks agree on
     * @param expected ranks that all ranks blame, as a failure prints them; * for any rank
     */
    @Rule(
            value = 512,
            needs = {ABORT_ACROSS_RANKS, AGREED_FAILURES})
    @ParameterizedTest(name = "{0}")
    @CsvSource({"deadline,TIMED_OUT,2", "abort,ABORTED,2", "interrupt,ABORTED,2", "mismatch,MISMATCH,*"})
    default void failureIsEmptyWhileTheGroupWorksAndThenTheSameOnAllRanks(String fault, Code code, String expected) {
        if (fault.equals("mismatch")) {
            needs(MISMATCHES);
        }
        try (Ranks ranks = group(5)) {
            ranks.run(RuleChecks::works);
            for (int rank = 0; rank < 5; rank++) {
                assertEquals(Optional.empty(), ranks.rank(rank).failure(), "failure() of rank " + rank);
            }
            CountDownLatch others = new CountDownLatch(3);
            ranks.outcomes(Ranks.LIMIT, group -> fail(group, fault, others));
            RuleChecks.eventually("the same failure() on all ranks", RuleChecks.AGREED_BY_THEN, () -> agree(ranks));
            String agreed = story(ranks.rank(0));
            assertTrue(agreed.startsWith(code + " "), "need " + code + ", found " + agreed);
            if (!expected.equals("*")) {
                assertEquals(code + " of " + expected, agreed, "code and ranks to blame");
            }
            ranks.outcomes(Ranks.LIMIT, ProcessGroup::barrier);
            for (int rank = 0; rank < 5; rank++) {
                assertEquals(agreed, story(ranks.rank(rank)), "failure() of rank " + rank + " after another call");
            }
        }
    }

    private static void fail(ProcessGroup group, String fault, CountDownLatch others) {
        boolean guilty = group.rank() == 2;
        switch (fault) {
            case "abort" -> {
                if (guilty) {
                    group.abort(new IllegalStateException("out of paper"));
                }
            }
            case "interrupt" -> {
                if (guilty) {
                    Thread.currentThread().interrupt();
                    group.barrier();
                }
            }
            case "mismatch" -> group.within(Duration.ofSeconds(20)).allReduce(new float[guilty ? 5 : 4], ReduceOp.SUM);
            default -> {
                if (group.rank() == 0) {
                    // a thread that is slow to call is not to blame
                    RuleChecks.opens(others, "a rank has not called");
                    group.within(Duration.ofMillis(300)).barrier();
                } else if (!guilty) {
                    Work waiting = group.within(Duration.ofSeconds(20)).barrierAsync();
                    others.countDown();
                    waiting.await();
                }
            }
        }
    }

    private static boolean agree(Ranks ranks) {
        String first = story(ranks.rank(0));
        return !first.isEmpty()
                && IntStream.range(1, ranks.size()).allMatch(rank -> first.equals(story(ranks.rank(rank))));
    }

    /** Returns the code and the culprits of a group's failure, or an empty text if the group has not failed. */
    private static String story(ProcessGroup group) {
        return group.failure()
                .map(failure -> failure.code() + " of "
                        + failure.where().culprits().stream()
                                .map(String::valueOf)
                                .collect(Collectors.joining(",")))
                .orElse("");
    }

    /** Checks that a listener receives a failure once, as its last event, and that the listener's thread may block. */
    @Rule(513)
    default void aListenerMayBlockAndReceivesTheFailureOnceAndLast() {
        List<List<GroupEvent>> heard = List.of(new CopyOnWriteArrayList<>(), new CopyOnWriteArrayList<>());
        AtomicInteger heldUp = new AtomicInteger();
        CountDownLatch thrown = new CountDownLatch(2);
        CountDownLatch notified = new CountDownLatch(2);
        CountDownLatch notifiedLater = new CountDownLatch(2);
        try (Ranks ranks = group(3)) {
            ranks.run(group -> {
                if (group.rank() == 2) {
                    return;
                }
                group.onEvent(event -> {
                    heard.get(group.rank()).add(event);
                    if (event.kind() == GroupEvent.Kind.FAILED) {
                        heldUp.addAndGet(RuleChecks.isOpen(thrown, RuleChecks.HELD_UP_AFTER) ? 0 : 1);
                        notified.countDown();
                    }
                });
                RuleChecks.fails(ProcessGroup::barrier, group.within(Duration.ofMillis(300)), Code.values());
                thrown.countDown();
                RuleChecks.fails(ProcessGroup::barrier, group, Code.values());
                assertTrue(
                        RuleChecks.isOpen(notified, RuleChecks.LONG),
                        "a listener received no event FAILED within 10 s");
                group.onEvent(event -> notifiedLater.countDown());
                assertTrue(
                        RuleChecks.isOpen(notifiedLater, RuleChecks.LONG),
                        "a listener that was added after the failure received no event within 10 s");
            });
            assertEquals(0, heldUp.get(), "ranks whose call was delayed by a listener");
            ranks.outcomes(Ranks.LIMIT, ProcessGroup::close);
            for (int rank = 0; rank < 2; rank++) {
                List<GroupEvent.Kind> kinds = new ArrayList<>();
                heard.get(rank).forEach(event -> kinds.add(event.kind()));
                assertEquals(
                        kinds.size() - 1,
                        kinds.indexOf(GroupEvent.Kind.FAILED),
                        "FAILED must be the last event, and come once: " + kinds);
            }
        }
    }

    /** Checks that a time-out blames exactly the ranks that have not called, on all ranks that waited. */
    @Rule(value = 514, needs = ABORT_ACROSS_RANKS)
    @ParameterizedTest(name = "ranks {1} of {0}")
    @CsvSource({"3,'1'", "4,'0,2'"})
    default void aTimeoutBlamesOnlyTheRanksThatHaveNotCalled(int worldSize, String late) {
        Set<Integer> missing = Stream.of(late.split(",")).map(Integer::valueOf).collect(Collectors.toSet());
        CyclicBarrier together = new CyclicBarrier(worldSize - missing.size());
        List<Throwable> outcomes = outcomes(worldSize, group -> {
            if (!missing.contains(group.rank())) {
                together.await(10, TimeUnit.SECONDS);
                group.within(Duration.ofSeconds(1)).barrier();
            }
        });
        for (FerroException failure : RuleChecks.failures(outcomes, rank -> !missing.contains(rank), Code.TIMED_OUT)) {
            assertEquals(missing, failure.where().culprits(), "ranks to blame: " + failure);
        }
    }

    /**
     * Checks that a failure of a subgroup affects only the subgroup. Its parent group and sibling group report no
     * failure.
     */
    @Rule(
            value = 515,
            needs = {SUBGROUPS, ABORT_ACROSS_RANKS})
    default void aFailureOfASubgroupIsNotThatOfItsParentOrSibling() {
        CountDownLatch failed = new CountDownLatch(2);
        eachRank(4, group -> {
            try (ProcessGroup half = group.split(group.rank() / 2, 0).orElseThrow()) {
                if (group.rank() == 0) {
                    half.abort(new IllegalStateException("out of paper"));
                    failed.countDown();
                } else if (group.rank() == 1) {
                    Ranks.RankCode call = each -> each.allReduceAsync(HostTensor.of(new int[2]), ReduceOp.SUM)
                            .await();
                    RuleChecks.blames(RuleChecks.fails(call, half, Code.ABORTED), 0);
                    failed.countDown();
                } else {
                    RuleChecks.opens(failed, "ranks 0 and 1 have not failed");
                    RuleChecks.works(half);
                    assertEquals(Optional.empty(), half.failure(), "failure() of the sibling");
                }
                RuleChecks.works(group);
                assertEquals(Optional.empty(), group.failure(), "failure() of the parent");
            }
        });
    }

    /** Checks that a rank that aborts after its call failed is not blamed, whatever the cause of the abort. */
    @Rule(
            value = 516,
            needs = {ABORT_ACROSS_RANKS, AGREED_FAILURES})
    default void anAbortAfterAFailureChangesNothing() {
        try (Ranks ranks = group(5)) {
            ranks.run(group -> {
                if (group.rank() == 2) {
                    group.abort(new IllegalStateException("out of paper"));
                } else {
                    FerroException thrown = RuleChecks.fails(ProcessGroup::barrier, group, Code.ABORTED);
                    // the second cause is more severe than the failure that the ranks agree on
                    group.abort(
                            group.rank() == 0
                                    ? new IllegalStateException("cannot go on")
                                    : new FerroException(
                                            Code.TIMED_OUT, thrown.where().blaming(0), "rank 0 is late"));
                }
                assertEquals("ABORTED of 2", story(group), "failure() of rank " + group.rank() + " after its abort");
            });
            ranks.run(group -> {
                RuleChecks.says(RuleChecks.fails(ProcessGroup::barrier, group, Code.ABORTED), "out of paper");
                assertEquals(
                        "ABORTED of 2",
                        story(group),
                        "failure() of rank " + group.rank() + " after the aborts of all ranks");
            });
            ranks.outcomes(Ranks.LIMIT, ProcessGroup::close);
        }
    }

    /**
     * Checks that the failure of a message that times out names and blames the peer that did not call. The group has
     * four ranks, so that the peer is not a neighbour of the rank that waits.
     */
    @Rule(217)
    @ParameterizedTest(name = "{0} of rank {1} with rank {2}")
    @CsvSource({"send,0,2", "send,3,1", "recv,1,3", "recv,2,0"})
    default void aMessageThatTimesOutNamesItsPeer(String call, int waiter, int peer) {
        int tag = refuses(MESSAGE_TAGS) ? 0 : 7;
        List<Throwable> outcomes = outcomes(4, group -> {
            ProcessGroup hasty = group.within(Duration.ofMillis(300));
            if (group.rank() == waiter && call.equals("send")) {
                hasty.send(new float[100_000], peer, tag);
            } else if (group.rank() == waiter) {
                hasty.recv(new float[3], peer, tag);
            }
        });
        boolean maySendAlone = call.equals("send") && refuses(ASYNCHRONOUS_MESSAGES);
        if (maySendAlone && outcomes.get(waiter) == null) {
            return;
        }
        FerroException failure = RuleChecks.failure(outcomes, waiter, Code.TIMED_OUT);
        RuleChecks.says(failure, "gave up on rank " + peer + " after ");
        assertEquals(Set.of(peer), failure.where().culprits(), "rank to blame: " + failure);
        assertEquals(waiter, failure.where().rank(), "rank in where() of the failure");
    }

    /** Checks that a receive of a message that stops arriving ends at its deadline. */
    @Rule(
            value = 218,
            needs = {ASYNCHRONOUS_MESSAGES, MESSAGE_TAGS})
    default void aReceiveOfAnUnfinishedMessageTimesOut() {
        CountDownLatch standsStill = new CountDownLatch(1);
        CountDownLatch ended = new CountDownLatch(1);
        try (Ranks ranks = group(2)) {
            Collective stops = combining(new float[2], standingStill(false, standsStill, ended));
            if (CallFactory.refusal(ranks.rank(0), stops).isPresent()) {
                refused("users' reductions");
                return;
            }
            List<Throwable> outcomes = ranks.outcomes(Duration.ofSeconds(20), group -> {
                float[] data = {group.rank() + 2, 5};
                Collective combines = combining(data, standingStill(group.rank() == 1, standsStill, ended));
                if (group.rank() == 1) {
                    Work send = group.sendAsync(HostTensor.of(new float[300_000]), 0, 1);
                    group.send(new int[] {4}, 0, 2);
                    group.submit(combines);
                    send.await();
                } else {
                    // the announcement of the first message has also arrived
                    group.recv(new int[1], 1, 2);
                    group.submit(combines);
                    RuleChecks.opens(standsStill, "rank 1 has not combined anything");
                    try {
                        group.within(Duration.ofMillis(300)).recv(new float[300_000], 1, 1);
                    } finally {
                        ended.countDown();
                    }
                }
            });
            FerroException failure = RuleChecks.failure(outcomes, 0, Code.TIMED_OUT);
            RuleChecks.says(failure, "gave up on rank 1 after ");
            RuleChecks.blames(failure, 1);
            RuleChecks.failure(outcomes, 1, Code.TIMED_OUT, Code.ABORTED);
        }
    }

    private static Collective combining(float[] data, ReduceOp op) {
        return Collective.allReduce(HostTensor.of(data), HostTensor.of(data), op);
    }

    private static ReduceOp standingStill(boolean isOnThisRank, CountDownLatch standsStill, CountDownLatch ended) {
        return ReduceOp.ofFloats("standing still", (a, b) -> {
            if (isOnThisRank) {
                standsStill.countDown();
                RuleChecks.isOpen(ended, Duration.ofSeconds(20));
            }
            return a + b;
        });
    }

    /** Checks that if one of four ranks makes a different call, all messages name this rank and its call. */
    @Rule(
            value = 530,
            needs = {MISMATCHES, ABORT_ACROSS_RANKS})
    @ParameterizedTest(name = "{0}, rank {1} of 4")
    @CsvSource({"collective,1", "message,3", "newGroup,2"})
    default void aMismatchReportsTheCallOfEachRank(String what, int odd) {
        if (what.equals("newGroup")) {
            needs(SUBGROUPS);
        }
        try (Ranks ranks = group(4)) {
            switch (what) {
                case "collective" -> collective(ranks, odd);
                case "newGroup" -> newGroup(ranks, odd);
                default -> message(ranks, odd);
            }
        }
    }

    private static void collective(Ranks ranks, int odd) {
        List<FerroException> thrown = mismatches(ranks, group -> {
            group.allReduce(new float[group.rank() == odd ? 65 : 64], ReduceOp.SUM);
            group.barrier();
        });
        for (FerroException failure : thrown) {
            RuleChecks.blames(failure, odd);
            saysOf(failure, rank -> rank != odd, "[64]");
            saysOf(failure, rank -> rank == odd, "[65]");
        }
    }

    private static void newGroup(Ranks ranks, int odd) {
        int[] other = {3, 1, 2, 0};
        List<FerroException> thrown =
                mismatches(ranks, group -> group.newGroup(group.rank() == odd ? other : new int[] {0, 1, 2, 3}));
        for (int rank = 0; rank < thrown.size(); rank++) {
            FerroException failure = thrown.get(rank);
            if (rank != odd) {
                // the odd rank has found out only that the lists differ
                RuleChecks.blames(failure, odd);
            }
            saysOf(failure, member -> member != odd, "[0, 1, 2, 3]");
            saysOf(failure, member -> member == odd, "[3, 1, 2, 0]");
        }
    }

    private static List<FerroException> mismatches(Ranks ranks, Ranks.RankCode code) {
        List<Throwable> outcomes = ranks.outcomes(Ranks.LIMIT, group -> code.run(group.within(Duration.ofSeconds(20))));
        return RuleChecks.failures(outcomes, rank -> true, Code.MISMATCH);
    }

    /** Checks that a message contains a text, and that the last rank named before the text satisfies {@code right}. */
    private static void saysOf(FerroException failure, IntPredicate right, String text) {
        RuleChecks.says(failure, text);
        String message = failure.getMessage();
        for (int at = message.indexOf(text); at >= 0; at = message.indexOf(text, at + 1)) {
            Matcher named = Pattern.compile("rank (\\d+)").matcher(message.substring(0, at));
            int last = -1;
            while (named.find()) {
                last = Integer.parseInt(named.group(1));
            }
            int rank = last;
            assertTrue(
                    rank >= 0 && right.test(rank),
                    () -> "\"" + text + "\" is not the call of rank " + rank + ": " + message);
        }
    }

    /** Sends 9 elements from rank {@code from} to rank 2, which receives 10 elements. */
    private static void message(Ranks ranks, int from) {
        List<Throwable> outcomes = ranks.outcomes(Ranks.LIMIT, group -> {
            ProcessGroup patient = group.within(Duration.ofSeconds(20));
            if (group.rank() == from) {
                patient.send(new int[9], 2, 0);
                patient.barrier();
            } else if (group.rank() == 2) {
                patient.recv(new int[10], from, 0);
            }
        });
        FerroException failure = RuleChecks.failure(outcomes, 2, Code.MISMATCH);
        RuleChecks.blames(failure, from);
        String message = failure.getMessage();
        Pattern inOrder = Pattern.compile("rank " + from + " sent\\b.*\\b36 bytes.*\\breceive.*\\b40\\b");
        assertTrue(
                inOrder.matcher(message).find(), () -> "need the sent bytes, and then the received bytes: " + message);
    }

    /** Checks that if two of five ranks never call, the messages of all other ranks name and blame the two ranks. */
    @Rule(value = 531, needs = ABORT_ACROSS_RANKS)
    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"collective", "newGroup"})
    default void aTimeoutNamesAllRanksThatNeverCalled(String what) {
        if (what.equals("newGroup")) {
            needs(SUBGROUPS);
        }
        CyclicBarrier together = new CyclicBarrier(3);
        List<Throwable> outcomes = outcomes(5, group -> {
            if (group.rank() % 2 == 0) {
                together.await(10, TimeUnit.SECONDS);
                // from 1 s on, ranks are asked early enough that a slow thread does not count as silent
                ProcessGroup hasty = group.within(Duration.ofSeconds(1));
                if (what.equals("newGroup")) {
                    hasty.newGroup(4, 3, 2, 1, 0);
                } else {
                    hasty.allReduce(new float[1000], ReduceOp.SUM);
                }
            }
        });
        for (FerroException failure :
                RuleChecks.failures(outcomes, rank -> rank % 2 == 0, Code.TIMED_OUT, Code.ABORTED)) {
            assertEquals(Set.of(1, 3), failure.where().culprits(), () -> "ranks to blame: " + failure);
            String message = failure.getMessage();
            assertTrue(Pattern.compile("ranks 1, ?3\\b").matcher(message).find(), () -> "need ranks 1, 3: " + message);
        }
    }
}
