package ferro.integration;

import static ferro.harness.OnThread.result;
import static ferro.harness.OnThread.until;
import static ferro.harness.Says.assertFailed;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.GroupEvent;
import ferro.HostTensor;
import ferro.InvalidRankException;
import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.harness.OnThread;
import ferro.harness.Ranks;
import ferro.harness.Ranks.Ended;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;

/** What ranks are told when something goes wrong: the same cause, the same culprits, and who is where. */
abstract class DiagnosisRows {
    /** Promised are 100 ms on an idle machine. */
    private static final long SPREAD_MILLIS = 500;

    private static final int LARGE = 1 << 20;

    abstract Ranks ranks(int worldSize);

    private static void sum(ProcessGroup group, Duration deadline) {
        group.within(deadline).allReduce(new float[] {group.rank() + 2, 3}, ReduceOp.SUM);
    }

    private static FerroException failed(Ended ended, Code code, String culprits) {
        FerroException failure = assertFailed(code, ended.failure());
        assertEquals(culprits, Culprits.of(failure), failure.getMessage());
        return failure;
    }

    /** Where a rank is may be what it said to the question before the last: on a busy machine its last answer is late. */
    private static void says(FerroException failure, String... texts) {
        String said = failure.getMessage().replace("silent now; in its last answer it was ", "");
        for (String text : texts) {
            assertTrue(said.contains(text), "\"" + text + "\" in: " + failure.getMessage());
        }
    }

    private static void agreed(List<ProcessGroup> groups, Code code, Supplier<String> culprits) {
        for (ProcessGroup group : groups) {
            until(
                    "rank " + group.rank() + " never heard of it",
                    () -> group.failure().isPresent());
            until("rank " + group.rank() + " names " + group.failure(), () -> {
                FerroException failure = group.failure().orElseThrow();
                assertTrue(failure.getMessage()
                        .startsWith("group \"" + failure.where().group() + "\" has failed"));
                return failure.code() == code && Culprits.of(failure).equals(culprits.get());
            });
        }
    }

    private static long spreadMillis(List<Ended> ended) {
        long first = ended.stream().mapToLong(Ended::atNanos).min().orElseThrow();
        long last = ended.stream().mapToLong(Ended::atNanos).max().orElseThrow();
        return TimeUnit.NANOSECONDS.toMillis(last - first);
    }

    @Test
    @DisplayName("row 4, row 18: at the deadline all survivors name the rank that skipped the call, and where it is")
    void allSurvivorsNameTheRankThatSkippedACall(TestReporter reporter) {
        Duration deadline = Duration.ofSeconds(1);
        try (Ranks ranks = ranks(4)) {
            ranks.ends(group -> sum(group, deadline));
            Map<Integer, Future<Ended>> waiting = new TreeMap<>();
            long begun = System.nanoTime();
            for (int rank : List.of(0, 1, 3)) {
                waiting.put(rank, ranks.start(rank, group -> sum(group, deadline)));
            }
            List<Ended> ended = waiting.values().stream().map(OnThread::result).toList();
            for (Ended each : ended) {
                FerroException failure = failed(each, Code.TIMED_OUT, "2");
                says(
                        failure,
                        "gave up on rank 2",
                        "rank 2 has not made this call",
                        "seq 1 (allReduce f32[2] sum",
                        "seq 2");
                assertEquals(2, failure.where().sequence());
                // a rank that receives another rank's timeout may have begun, and then ends, before or after that rank;
                // the rank whose deadline has passed is never early
                assertTrue(each.atNanos() - begun >= deadline.toNanos(), failure.getMessage());
                FerroException first = result(waiting.get(whoGaveUp(failure))).failure();
                assertTrue(first.where().elapsed().compareTo(deadline) >= 0, first.getMessage());
            }
            reporter.publishEntry("row 4, row 18", spreadMillis(ended) + " ms between the first and the last survivor");
            assertTrue(spreadMillis(ended) < SPREAD_MILLIS, spreadMillis(ended) + " ms apart");
            agreed(ranks.groups(), Code.TIMED_OUT, () -> "2");
            for (int rank = 0; rank < 4; rank++) {
                var heard = ranks.events(rank);
                until("rank " + rank + " heard " + heard, () -> heard.stream().anyMatch(DiagnosisRows::isTheEnd));
            }
            // a machine with other work may have paused somebody before
            assertTrue(
                    ranks.events(0).stream().anyMatch(DiagnosisRows::isLate),
                    ranks.events(0).toString());
        }
    }

    private static int whoGaveUp(FerroException failure) {
        Matcher text = Pattern.compile("rank (\\d+) of \"[^\"]+\" gave up on").matcher(failure.getMessage());
        assertTrue(text.find(), failure.getMessage());
        return Integer.parseInt(text.group(1));
    }

    private static boolean isLate(GroupEvent event) {
        return event.kind() == GroupEvent.Kind.LATE
                && event.ranks().contains(2)
                && event.text().contains("rank 2 has not made this call");
    }

    private static boolean isTheEnd(GroupEvent event) {
        return event.kind() == GroupEvent.Kind.FAILED && event.ranks().equals(List.of(2));
    }

    private static Map<String, Consumer<ProcessGroup>> calls() {
        Map<String, Consumer<ProcessGroup>> calls = new TreeMap<>();
        calls.put("allReduce f32[5] sum", group -> group.allReduce(new float[5], ReduceOp.SUM));
        calls.put("allReduce i32[4] sum", group -> group.allReduce(new int[4], ReduceOp.SUM));
        calls.put("allReduce f32[4] max", group -> group.allReduce(new float[4], ReduceOp.MAX));
        calls.put("broadcast f32[4] root 1", group -> group.broadcast(new float[4], 1));
        calls.put("barrier", ProcessGroup::barrier);
        return calls;
    }

    @Test
    @DisplayName(
            "row 13, row 14, row 15, row 17: calls of other count, type, op or kind are told to all with all texts")
    void differentCallsAreReportedToAllRanksWithAllTexts(TestReporter reporter) {
        long worst = 0;
        for (Map.Entry<String, Consumer<ProcessGroup>> odd : calls().entrySet()) {
            try (Ranks ranks = ranks(4)) {
                List<Ended> ended = ranks.ends(group -> {
                    if (group.rank() == 2) {
                        odd.getValue().accept(group);
                    } else {
                        group.allReduce(new float[] {3, 5, 7, 9}, ReduceOp.SUM);
                    }
                    group.barrier();
                });
                for (Ended each : ended) {
                    FerroException failure = assertFailed(Code.MISMATCH, each.failure());
                    // a rank that has not entered yet when the others differ is not in the list
                    assertTrue(failure.where().culprits().contains(2), failure.getMessage());
                    says(failure, "rank 2 " + odd.getKey(), " allReduce f32[4] sum", "seq 1");
                }
                worst = Math.max(worst, spreadMillis(ended));
                agreed(ranks.groups(), Code.MISMATCH, () -> culprits(ranks));
            }
        }
        reporter.publishEntry("row 13, row 14, row 15, row 17", worst + " ms between the first and the last rank");
    }

    private static String culprits(Ranks ranks) {
        return Culprits.of(ranks.group(0).failure().orElseThrow());
    }

    @Test
    @DisplayName("row 16: another root is told to all; a root that is no rank is refused before anything moves")
    void aDifferentRootIsReportedToAllRanks() {
        try (Ranks ranks = ranks(4)) {
            ProcessGroup first = ranks.group(0);
            assertThrows(InvalidRankException.class, () -> first.broadcast(new float[4], 7));
            List<Ended> ended = ranks.ends(group -> {
                group.broadcast(new float[] {3, 5, 7, 9}, group.rank() < 2 ? 0 : 3);
                group.barrier();
            });
            for (Ended each : ended) {
                FerroException failure = assertFailed(Code.MISMATCH, each.failure());
                // the call that was refused is none of the group's
                says(failure, "broadcast f32[4] root 0", "broadcast f32[4] root 3", "seq 1");
            }
        }
    }

    @Test
    @DisplayName("row 28: abort from any thread ends all pending work, twice is once, and the others read why")
    void anAbortEndsAllWorkAndReachesAllRanksWithItsReason(TestReporter reporter) {
        try (Ranks ranks = ranks(3)) {
            List<Future<Ended>> waiting = new ArrayList<>();
            for (int rank = 0; rank < 3; rank++) {
                waiting.add(ranks.start(rank, group -> {
                    HostTensor data = HostTensor.of(new float[LARGE]);
                    group.recvAsync(data, (group.rank() + 1) % 3, 5).await();
                }));
            }
            long begun = System.nanoTime();
            ranks.group(1).abort(new IllegalStateException("batch 17 has no labels"));
            ranks.group(1).abort(new IllegalStateException("another reason"));
            List<Ended> ended = waiting.stream().map(OnThread::result).toList();
            for (Ended each : ended) {
                FerroException failure = failed(each, Code.ABORTED, "1");
                says(failure, "java.lang.IllegalStateException: batch 17 has no labels", "at ferro.integration");
            }
            long millis = ended.stream()
                    .mapToLong(each -> TimeUnit.NANOSECONDS.toMillis(each.atNanos() - begun))
                    .max()
                    .orElseThrow();
            reporter.publishEntry("row 28", millis + " ms to the last rank's end");
            assertTrue(millis < SPREAD_MILLIS, millis + " ms");
            agreed(ranks.groups(), Code.ABORTED, () -> "1");
        }
    }

    @Test
    @DisplayName("row 29: close with work in flight ends within its bound, and ends the others")
    void closeWithWorkInFlightIsBounded() {
        try (Ranks ranks = ranks(2)) {
            Future<Ended> other = ranks.start(1, ProcessGroup::barrier);
            ranks.group(0).recvAsync(HostTensor.of(new float[LARGE]), 1, 3);
            long begun = System.nanoTime();
            ranks.group(0).close(Duration.ofMillis(200));
            long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
            assertTrue(millis < 200 + 5 * SPREAD_MILLIS, "closed after " + millis + " ms");
            says(failed(result(other), Code.ABORTED, "0"), "rank 0 closed the group with operations that did not end");
        }
    }

    @Test
    @DisplayName(
            "row 21: of two ranks that abort at once one or both are to blame, by all ranks alike, with the reason, and"
                    + " nobody else")
    void twoRanksThatAbortAtOnceAreBlamedAlikeByAllRanks() {
        try (Ranks ranks = ranks(4)) {
            List<Ended> ended = ranks.ends(group -> {
                if (group.rank() == 1 || group.rank() == 2) {
                    group.abort(new IllegalStateException("rank " + group.rank() + " is out of ink"));
                }
                group.barrier();
            });
            ended.forEach(each -> toldOfAborts(each.failure()));
            // if the second rank aborted before it knew of the first abort, the ranks agree on both in the end
            until("ranks blame " + blamed(ranks), () -> blamed(ranks).size() == 1);
            agreed(ranks.groups(), Code.ABORTED, () -> culprits(ranks));
            ranks.groups().forEach(group -> toldOfAborts(group.failure().orElseThrow()));
        }
    }

    private static void toldOfAborts(FerroException failure) {
        String culprits = Culprits.of(failure);
        assertEquals(Code.ABORTED, failure.code(), failure.getMessage());
        assertTrue(List.of("1", "2", "1,2").contains(culprits), culprits + " in " + failure.getMessage());
        assertTrue(
                Stream.of(culprits.split(","))
                        .anyMatch(rank -> failure.getMessage().contains("rank " + rank + " is out of ink")),
                failure.getMessage());
    }

    private static Set<String> blamed(Ranks ranks) {
        return ranks.groups().stream()
                .map(group -> group.failure().map(Culprits::of).orElse("nobody"))
                .collect(Collectors.toSet());
    }

    @Test
    void aRankThatWaitsInAnotherGroupIsNotBlamed() {
        try (Ranks ranks = ranks(3)) {
            List<ProcessGroup> pair = new ArrayList<>();
            List<Future<Ended>> making = new ArrayList<>();
            for (int rank : List.of(1, 2)) {
                making.add(ranks.start(rank, group -> {
                    ProcessGroup made = group.newGroup(1, 2);
                    synchronized (pair) {
                        pair.add(made);
                    }
                }));
            }
            making.forEach(OnThread::result);
            ProcessGroup first = pair.get(0).rank() == 0 ? pair.get(0) : pair.get(1);
            Future<Ended> elsewhere = Ranks.start(first, group -> sum(group, Duration.ofSeconds(20)));
            Ended ended = result(ranks.start(0, group -> sum(group, Duration.ofMillis(800))));
            FerroException failure = failed(ended, Code.TIMED_OUT, "2");
            says(
                    failure,
                    "rank 2 has not made this call, its last call is none, and it is in no call of ferro",
                    "rank 1 has not made this call, its last call is none, and it is in allReduce f32[2] sum",
                    "of group \"" + ranksName(first) + "\", called by ferro.integration.DiagnosisRows.sum at Diag");
            first.abort(null);
            result(elsewhere);
        }
    }

    private static String ranksName(ProcessGroup group) {
        String text = group.backend().toString();
        return text.contains("simulated") ? "simulated[1, 2]" : "world[1, 2]";
    }

    @Test
    void aCycleOfBlockingSendsIsNamed() {
        try (Ranks ranks = ranks(3)) {
            Duration deadline = Duration.ofMillis(600);
            long begun = System.nanoTime();
            List<Ended> ended = ranks.ends(group -> group.within(deadline)
                    .sendAsync(HostTensor.of(new float[LARGE]), (group.rank() + 1) % 3, 4)
                    .await());
            for (int rank = 0; rank < 3; rank++) {
                FerroException failure = failed(ended.get(rank), Code.TIMED_OUT, "0,1,2");
                String text = failure.getMessage();
                assertTrue(text.startsWith("send to rank " + (rank + 1) % 3 + " tag 4 on group"), text);
                // whoever gave up first tells where the two others are
                List<Integer> here = IntStream.range(0, 3)
                        .filter(one -> text.contains("waiting for rank " + (one + 1) % 3 + ", and reports this"))
                        .boxed()
                        .toList();
                assertEquals(1, here.size(), text);
                assertTrue(ended.get(rank).atNanos() - begun >= deadline.toNanos(), text);
                FerroException first = ended.get(here.get(0)).failure();
                assertTrue(first.where().elapsed().compareTo(deadline) >= 0, first.getMessage());
                says(failure, "ranks 0, 1, 2 wait for each other, so no rank alone is to blame: ");
                for (int other = 0; other < 3; other++) {
                    int next = (other + 1) % 3;
                    says(failure, "rank " + other + " is in send to rank " + next + " tag 4, waiting for rank " + next);
                }
            }
        }
    }

    @Test
    void aMemberThatDoesNotCallNewGroupIsNamedWithItsCall() {
        try (Ranks ranks = ranks(3)) {
            Future<Ended> elsewhere = ranks.start(2, group -> sum(group, Duration.ofSeconds(20)));
            Ended ended = result(
                    ranks.start(0, group -> group.within(Duration.ofMillis(500)).newGroup(0, 2)));
            FerroException failure = failed(ended, Code.TIMED_OUT, "2");
            says(failure, "rank 2 never called newGroup([0, 2])", "rank 2 is in allReduce f32[2] sum", "seq 1");
            ranks.group(1).abort(null);
            result(elsewhere);
        }
    }

    @Test
    void aChainOfWaitingReceivesNamesTheRankAtItsEnd() {
        try (Ranks ranks = ranks(4)) {
            // a tenth of it is for the answers of the others
            Duration[] deadlines = {null, Duration.ofSeconds(20), Duration.ofSeconds(20), Duration.ofSeconds(2)};
            List<Future<Ended>> waiting = new ArrayList<>();
            for (int rank = 1; rank < 4; rank++) {
                Duration deadline = deadlines[rank];
                waiting.add(ranks.start(
                        rank, group -> group.within(deadline).recv(HostTensor.of(new int[2]), group.rank() - 1, 3)));
            }
            FerroException failure = failed(result(waiting.get(2)), Code.TIMED_OUT, "0");
            says(
                    failure,
                    "gave up on rank 0, at the end of the wait chain of rank 2, after",
                    "rank 0 is in no call of ferro",
                    "rank 2 is in recv from rank 1 tag 3, waiting for rank 1");
            ranks.group(0).abort(new IllegalStateException("enough"));
            waiting.subList(0, 2).forEach(one -> failed(result(one), Code.ABORTED, "0"));
        }
    }

    @Test
    void anInterruptFailsOneCallAndAbortsAllOthers() {
        try (Ranks ranks = ranks(2)) {
            Future<Ended> other = ranks.start(
                    1, group -> group.recvAsync(HostTensor.of(new int[1]), 0, 9).await());
            Thread.currentThread().interrupt();
            ProcessGroup first = ranks.group(0);
            FerroException own = assertThrows(
                    FerroException.class,
                    () -> first.recvAsync(HostTensor.of(new int[1]), 1, 3).await());
            assertTrue(Thread.interrupted(), "the flag is set again");
            assertFailed(Code.INTERRUPTED, own);
            Thread.currentThread().interrupt();
            FerroException call = assertThrows(FerroException.class, () -> sum(first, Duration.ofSeconds(20)));
            assertTrue(Thread.interrupted(), "the flag is set again");
            assertFailed(Code.INTERRUPTED, call);
            agreed(ranks.groups(), Code.ABORTED, () -> "0");
            failed(result(other), Code.ABORTED, "0");
        }
    }
}
