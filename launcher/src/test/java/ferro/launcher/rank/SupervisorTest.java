package ferro.launcher.rank;

import static ferro.launcher.Said.assertHas;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import ferro.launcher.output.Screen;
import ferro.launcher.rank.Supervisor.JobOutcome;
import ferro.launcher.rank.Supervisor.StopTimeouts;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which signals ranks get when, with ranks that are only pretended. */
@Timeout(30)
class SupervisorTest {
    private static final Duration SHORT = Duration.ofMillis(40);
    private static final Duration LONG = Duration.ofMinutes(5);
    private static final StopTimeouts AT_ONCE =
            times(Duration.ZERO, Duration.ZERO, Duration.ZERO, Duration.ZERO, Duration.ZERO);
    private static final StopTimeouts PATIENT = times(LONG, LONG, LONG, LONG, LONG);
    private static final int HALTED = 2;

    private final BlockingQueue<JobEvent> events = new LinkedBlockingQueue<>();
    private final List<String> told = new ArrayList<>();
    private final List<String> sent = new ArrayList<>();
    private Runnable onceSaid = () -> {};
    private final ByteArrayOutputStream said = new ByteArrayOutputStream() {
        @Override
        public void write(byte[] bytes, int from, int length) {
            super.write(bytes, from, length);
            onceSaid.run();
        }
    };

    private record Pretended(int rank, BiConsumer<Integer, String> answer) implements SupervisedRank {
        @Override
        public long pid() {
            return 1000 + rank;
        }

        @Override
        public boolean isHalted() {
            return rank == HALTED;
        }

        @Override
        public void signal(String name) {
            answer.accept(rank, name);
        }
    }

    @Test
    void ranksAreKilledOnceAndTheTimeoutIsNotExtended() throws InterruptedException {
        ends(0, 7);

        JobOutcome outcome = await(3, times(LONG, LONG, SHORT, LONG, Duration.ofMillis(300)), (rank, signal) -> {
            if (rank == 1 && signal.equals("KILL")) {
                ends(1, 137);
            }
        });

        assertEquals(List.of("1 TERM", "2 TERM", "1 KILL", "2 KILL"), sent);
        assertEquals(Set.of(1, 2), outcome.stopped());
        assertEquals(7, outcome.failures().get(0).code());
        assertHas(text(), "rank 2, pid 1002, did not end after signal KILL");
    }

    @Test
    void aSignalIsPassedOnAndRemainingRanksAreKilledAfterAGracePeriod() throws InterruptedException {
        events.add(new JobEvent.StopSignalEvent("INT", 1));
        // the launcher of another node has received it too
        events.add(new JobEvent.StopSignalEvent("INT", 1));

        JobOutcome outcome = await(2, times(LONG, LONG, LONG, SHORT, LONG), (rank, signal) -> {
            if (rank == 0 || signal.equals("KILL")) {
                ends(rank, rank == 0 ? 130 : 137);
            }
        });

        assertEquals(List.of("0 INT", "1 INT", "1 KILL"), sent);
        assertEquals("INT", outcome.signal());
        assertEquals(Set.of(), outcome.stopped());
        assertHas(text(), "signal INT is passed on to all ranks: ranks that have not ended after 40 ms");
        assertHas(text(), "ranks [1] have not ended 40 ms after signal INT: they are killed");
    }

    @Test
    void ranksThatAllRefuseTheSameWrongInputAreNotStopped() throws InterruptedException {
        Stream.of(3, 1, 0, 2).forEach(rank -> ends(rank, 2));

        JobOutcome outcome = await(4, new StopTimeouts(LONG, LONG, LONG, LONG, LONG, true), (rank, signal) -> {});

        assertEquals(List.of(), sent);
        assertEquals(Set.of(), outcome.stopped());
        assertEquals(3, outcome.failures().get(0).rank());
    }

    @Test
    void ranksThatDoNotRefuseTheWrongInputAreStopped() throws InterruptedException {
        ends(1, 2);

        JobOutcome outcome =
                await(2, new StopTimeouts(SHORT, LONG, LONG, LONG, LONG, true), (rank, signal) -> ends(rank, 143));

        assertEquals(List.of("0 TERM"), sent);
        assertEquals(Set.of(0), outcome.stopped());
    }

    @Test
    void exitCodeTwoOfAProgramIsAnOrdinaryFailure() throws InterruptedException {
        ends(0, 2);

        await(2, PATIENT, (rank, signal) -> ends(rank, 143));

        assertEquals(List.of("1 TERM"), sent);
    }

    @Test
    void joinedRanksGetTimeToFailBeforeTheyAreStopped() throws InterruptedException {
        events.add(new JobEvent.AllJoinedEvent());
        ends(3, 0);
        ends(1, 137);
        ends(0, 1);

        JobOutcome outcome = await(4, times(LONG, SHORT, LONG, LONG, LONG), (rank, signal) -> ends(rank, 137));

        assertEquals(List.of("2 TERM"), sent);
        assertEquals(Set.of(2), outcome.stopped());
        assertEquals(List.of(1, 0, 2), ranks(outcome.failures()));
        assertEquals(List.of(3), ranks(outcome.left()));
        assertEquals(Map.of(HALTED, 1000L + HALTED), outcome.halted());
    }

    @Test
    void aRankThatEndsWellAfterAFailureCountsAsLeft() throws InterruptedException {
        events.add(new JobEvent.AllJoinedEvent());
        ends(0, 1);
        ends(1, 0);

        JobOutcome outcome = await(3, times(LONG, SHORT, LONG, LONG, LONG), (rank, signal) -> ends(rank, 0));

        assertEquals(List.of(1), ranks(outcome.left()));
        assertEquals(Set.of(2), outcome.stopped());
        assertNotNull(outcome.stoppedNanos());
    }

    @Test
    void aRankThatWasResumedBeforeItsEndIsNotSuspended() throws InterruptedException {
        ends(0, 1);

        JobOutcome outcome = await(3, PATIENT, (rank, signal) -> ends(rank, 143));

        assertEquals(Map.of(), outcome.halted());
        assertEquals(Set.of(1, 2), outcome.stopped());
    }

    @Test
    void aRankThatIsSuspendedDuringAFailureElsewhereIsReported() throws InterruptedException {
        events.add(new JobEvent.RemoteFailureEvent(1, 23));

        JobOutcome outcome = await(3, PATIENT, (rank, signal) -> ends(rank, 137));

        assertEquals(Map.of(HALTED, 1000L + HALTED), outcome.halted());
        assertEquals(23L, outcome.heardNanos());
    }

    @Test
    void outputThatCannotBeShownIsReportedToTheOtherNodesOnce() throws InterruptedException {
        events.add(new JobEvent.OutputClosedEvent("Broken pipe"));
        events.add(new JobEvent.OutputClosedEvent("again"));

        JobOutcome outcome = await(2, PATIENT, (rank, signal) -> ends(rank, 143));

        assertEquals(List.of("unshown"), told);
        assertEquals("Broken pipe", outcome.unshown());
    }

    @Test
    void theOutputOfEndedRanksIsAwaitedBeyondTheStopTimes() throws InterruptedException {
        events.add(new JobEvent.RankEndEvent(0, 7, 17));
        // the reader of the output takes longer than all times of the rules together
        later(300, new JobEvent.DrainEvent(0));

        await(2, AT_ONCE, (rank, signal) -> ends(rank, 143));

        assertEquals(List.of("1 TERM"), sent);
        assertEquals("", text());
    }

    @Test
    void aSignalEndsTheWaitForUnreadOutput() throws InterruptedException {
        events.add(new JobEvent.RankEndEvent(0, 0, 17));
        events.add(new JobEvent.StopSignalEvent("INT", 1));

        JobOutcome outcome = await(1, AT_ONCE, (rank, signal) -> {});

        assertEquals("INT", outcome.signal());
        assertHas(text(), "rank 0 has ended, but its last output was not read in time and is not shown");
    }

    @Test
    void ranksThatEndAtASignalDoNotWaitForTheWholeGracePeriod() throws InterruptedException {
        events.add(new JobEvent.StopSignalEvent("INT", 1));

        await(
                1,
                times(LONG, LONG, LONG, LONG, SHORT),
                (rank, signal) -> events.add(new JobEvent.RankEndEvent(rank, 130, 17)));

        assertEquals(List.of("0 INT"), sent);
        assertHas(text(), "its last output was not read in time");
    }

    @Test
    void outputIsAwaitedAfterALateSignal() throws InterruptedException {
        StopTimeouts rules = times(Duration.ZERO, Duration.ZERO, Duration.ZERO, LONG, Duration.ofSeconds(1));
        events.add(new JobEvent.RankEndEvent(0, 7, 17));
        later(1_300, new JobEvent.StopSignalEvent("INT", 1));
        onceSaid = () -> events.add(new JobEvent.DrainEvent(0));

        JobOutcome outcome = await(2, rules, endsAt("KILL", 137));

        assertNull(outcome.signal());
        assertEquals(
                "ferro: signal INT: all ranks have ended; the launcher waits 1000 ms more for their unread output\n",
                text());
    }

    @Test
    void aSecondSignalEndsTheWaitForOutputAtOnce() throws InterruptedException {
        events.add(new JobEvent.RankEndEvent(0, 0, 17));
        events.add(new JobEvent.StopSignalEvent("INT", 1));
        events.add(new JobEvent.StopSignalEvent("INT", 2));

        await(1, PATIENT, (rank, signal) -> {});

        assertHas(text(), "its last output was not read in time");
    }

    @Test
    void aSignalThatDoesNotStopIsPassedOnEachTime() throws InterruptedException {
        events.add(new JobEvent.SignalEvent("USR1"));
        events.add(new JobEvent.SignalEvent("USR1"));
        events.add(new JobEvent.SignalEvent("XCPU"));

        JobOutcome outcome = await(2, AT_ONCE, endsAt("XCPU", 0));

        assertEquals(List.of("0 USR1", "1 USR1", "0 USR1", "1 USR1", "0 XCPU", "1 XCPU"), sent);
        assertNull(outcome.signal());
        assertEquals(Map.of("USR1", Set.of(0, 1), "XCPU", Set.of(0, 1)), outcome.passed());
    }

    @Test
    void theStopKeyStopsAllRanksBeforeTheLauncher() throws InterruptedException {
        events.add(new JobEvent.SignalEvent("TSTP"));

        await(2, AT_ONCE, endsAt("STOP", 0));

        assertEquals(List.of("0 TSTP", "1 TSTP", "0 STOP", "1 STOP", "launcher"), sent);
    }

    @Test
    void aRevokedStopKeyStopsNoRank() throws InterruptedException {
        events.add(new JobEvent.SignalEvent("TSTP"));
        events.add(new JobEvent.SignalEvent("CONT"));

        await(1, AT_ONCE, endsAt("CONT", 0));

        assertEquals(List.of("0 TSTP", "0 CONT"), sent);
    }

    @Test
    void theEndOfARankIsPublishedAfterItsOutputIsRead() throws InterruptedException {
        ends(0, 7);

        await(2, AT_ONCE, endsAt("TERM", 143));

        assertEquals(List.of("rank 0 ended with 7"), told);
    }

    private static List<Integer> ranks(List<JobEvent.RankEndEvent> ends) {
        return ends.stream().map(JobEvent.RankEndEvent::rank).toList();
    }

    /** What ranks do that end at one signal with an exit code. */
    private BiConsumer<Integer, String> endsAt(String signal, int code) {
        return (rank, sent) -> {
            if (sent.equals(signal)) {
                ends(rank, code);
            }
        };
    }

    private static StopTimeouts times(
            Duration leave, Duration notice, Duration stop, Duration signal, Duration giveUp) {
        return new StopTimeouts(leave, notice, stop, signal, giveUp, false);
    }

    private void later(long millis, JobEvent event) {
        CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS).execute(() -> events.add(event));
    }

    private void ends(int rank, int code) {
        events.add(new JobEvent.RankEndEvent(rank, code, 17));
        events.add(new JobEvent.OutputReadEvent(rank));
        events.add(new JobEvent.DrainEvent(rank));
    }

    private JobOutcome await(int ranks, StopTimeouts rules, BiConsumer<Integer, String> answer)
            throws InterruptedException {
        BiConsumer<Integer, String> noted = (rank, signal) -> sent.add(rank + " " + signal);
        List<SupervisedRank> all = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
            all.add(new Pretended(rank, noted.andThen(answer)));
        }
        Screen screen = new Screen(said, said);
        Supervisor.JobEventListener witness = new Supervisor.JobEventListener() {
            @Override
            public void allJoined() {}

            @Override
            public void failed(JobEvent.RankEndEvent ended) {}

            @Override
            public void ended(JobEvent.RankEndEvent ended) {
                told.add("rank " + ended.rank() + " ended with " + ended.code());
            }

            @Override
            public void unshown() {
                told.add("unshown");
            }

            @Override
            public void standStill() {
                sent.add("launcher");
            }
        };
        return new Supervisor(events, screen, rules, witness).await(all);
    }

    private String text() {
        return said.toString(StandardCharsets.UTF_8);
    }
}
