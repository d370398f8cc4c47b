package ferro.control.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException.Code;
import ferro.GroupEvent;
import ferro.control.failure.ControlMessage;
import ferro.control.failure.Diagnosis;
import ferro.control.failure.Failure;
import ferro.spi.CallHeader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The questions about a call whose time passes, and the texts about it, with every message delivered by hand. */
class CallWatchTest {
    private static final long SECOND = 1_000_000_000L;
    private static final Duration POLL = Duration.ofMillis(10);

    /** A call that began at the start of the test. */
    private record TimedCall(CallHeader header, long begunNanos, long deadlineNanos) {}

    /** Calls that wait for the given ranks. */
    private record Calls(BitSet waitedFor, String alone) implements CallWatch.CallAccess<TimedCall> {
        @Override
        public CallHeader header(TimedCall call) {
            return call.header;
        }

        @Override
        public long begunNanos(TimedCall call) {
            return call.begunNanos;
        }

        @Override
        public long deadlineNanos(TimedCall call) {
            return call.deadlineNanos;
        }

        @Override
        public BitSet waitingFor(TimedCall call) {
            return waitedFor;
        }

        @Override
        public Diagnosis.Blame judge(TimeoutProbe asked, TimedCall call) {
            return asked.collective(call.header.sequence(), call.begunNanos, waitedFor, 0);
        }

        @Override
        public String describe(TimedCall running, TimedCall late) {
            return late.header.text() + (late == running ? "" : " behind " + running.header.text());
        }
    }

    private static TimedCall call(HandDriven group, long sequence, String text, double seconds) {
        CallHeader header = CallHeader.of(9, sequence, 70 + sequence, text);
        group.ranks.get(0).called(sequence, header.call());
        return new TimedCall(header, group.nanoTime(), group.nanoTime() + (long) (seconds * SECOND));
    }

    /** Polls for 5 s, or until the group fails. Every message arrives. */
    private static void watch(HandDriven group, CallWatch<TimedCall> watch, TimedCall running, TimedCall behind) {
        for (int poll = 0; poll < 500 && group.ranks.get(0).failure() == null; poll++) {
            watch.poll(running, behind, group.nanoTime());
            group.deliverAll();
            group.pass(POLL);
        }
    }

    @Test
    @DisplayName("the rank that has not called is named at a quarter of the time, and at its end")
    void aRankThatHasNotCalledIsNamedInTheWarningAndTheFailure() {
        HandDriven group = new HandDriven(2);
        TimedCall sum = call(group, 3, "sum", 2);
        watch(group, new CallWatch<>(group.ranks.get(0), new Calls(new BitSet(), "alone")), sum, null);

        List<GroupEvent> events = group.events.get(0);
        assertEquals(GroupEvent.Kind.LATE, events.get(0).kind());
        String late = events.get(0).text();
        assertTrue(late.startsWith("rank 0 of \"dp\" waits for rank 1 after 500 ms at sum: "), late);
        Failure failure = group.ranks.get(0).failure();
        assertEquals(Code.TIMED_OUT + " " + 3, failure.code() + " " + failure.sequence());
        assertTrue(
                failure.text().startsWith("rank 0 of \"dp\" gave up on rank 1 after 2000 ms at sum: "), failure.text());
    }

    @Test
    @DisplayName("128 ranks that wait 8 s for one rank send less than 1,000 queries")
    void ranksThatWaitForOneRankSendFewQueries() {
        HandDriven group = new HandDriven(128);
        BitSet straggler = new BitSet();
        straggler.set(77);
        CallHeader sum = CallHeader.of(9, 3, 73, "sum");
        List<CallWatch<TimedCall>> watches = new ArrayList<>();
        for (int rank = 0; rank < 128; rank++) {
            if (rank != 77) {
                group.ranks.get(rank).called(3, sum.call());
                watches.add(new CallWatch<>(group.ranks.get(rank), new Calls(straggler, "")));
            }
        }
        TimedCall call = new TimedCall(sum, group.nanoTime(), group.nanoTime() + 600 * SECOND);
        for (int poll = 0; poll < 800; poll++) {
            watches.forEach(watch -> watch.poll(call, null, group.nanoTime()));
            group.deliverAll();
            group.pass(POLL);
        }
        assertTrue(group.sent(ControlMessage.Query.class) >= 127, "each rank asks");
        assertTrue(group.sent(ControlMessage.Query.class) <= 1000, group.sent(ControlMessage.Query.class) + " queries");
    }

    @Test
    @DisplayName("in a group of more than 33 ranks a rank asks those that it waits for, and finds another call")
    void askingFindsAnotherCallOfARankInALargeGroup() {
        HandDriven group = new HandDriven(40);
        TimedCall sum = call(group, 3, "sum", 60);
        group.ranks.get(15).called(3, CallHeader.of(9, 3, 99, "max").call());
        BitSet waitedFor = new BitSet();
        waitedFor.set(1, 34);
        watch(group, new CallWatch<>(group.ranks.get(0), new Calls(waitedFor, "")), sum, null);
        group.deliverAll();

        assertEquals(Code.MISMATCH, group.ranks.get(0).failure().code());
        assertTrue(group.story(39).contains("rank 15 max"), group.story(39));
    }

    @Test
    void theGroupFailsAtTheDeadlineOfAQueuedCall() {
        HandDriven group = new HandDriven(2);
        TimedCall sum = call(group, 3, "sum", 60);
        TimedCall behind = call(group, 4, "max", 1);
        watch(group, new CallWatch<>(group.ranks.get(0), new Calls(new BitSet(), "alone")), sum, behind);

        Failure failure = group.ranks.get(0).failure();
        assertEquals(3, failure.sequence(), failure.text());
        assertTrue(failure.text().contains("gave up on rank 1 after 1000 ms at max behind sum: "), failure.text());
    }

    @ParameterizedTest
    @CsvSource({"'because it is slow', is late because it is slow, gave up because it is slow", "'', waits, gave up"})
    void noRankIsNamedIfNoRankIsWaitedFor(String alone, String late, String failed) {
        HandDriven group = new HandDriven(2);
        TimedCall sum = call(group, 3, "sum", 2);
        group.ranks.get(1).called(3, sum.header.call());
        watch(group, new CallWatch<>(group.ranks.get(0), new Calls(new BitSet(), alone)), sum, null);

        String warned = group.events.get(0).get(0).text();
        assertTrue(warned.contains("\"dp\" " + late + " after 500 ms at sum"), warned);
        Failure failure = group.ranks.get(0).failure();
        assertTrue(failure.text().contains("\"dp\" " + failed + " after 2000 ms at sum"), failure.text());
    }

    @Test
    void aCallFailsAtOnceIfARankLeftBeforeIt() {
        HandDriven group = new HandDriven(2);
        group.ranks.get(1).leave(new BitSet(), GracefulExit.ExitCondition.ALL_HAVE_ALL);
        group.deliverAll();
        TimedCall sum = call(group, 3, "sum", 60);
        new CallWatch<>(group.ranks.get(0), new Calls(new BitSet(), "")).poll(sum, null, group.nanoTime());

        Failure failure = group.ranks.get(0).failure();
        assertEquals(Code.PEER_LOST, failure.code());
        assertTrue(failure.text().contains("this call is seq 3 (sum)"), failure.text());
    }

    @Test
    void aSleepingRankWakesForEachQuery() {
        HandDriven group = new HandDriven(2);
        TimedCall sum = call(group, 3, "sum", 8);
        CallWatch<TimedCall> watch = new CallWatch<>(group.ranks.get(0), new Calls(new BitSet(), ""));
        int polls = 0;
        while (group.ranks.get(0).failure() == null) {
            watch.poll(sum, null, group.nanoTime());
            group.deliverAll();
            group.pass(Duration.ofNanos(watch.untilNext(sum, null, group.nanoTime())));
            polls++;
        }
        assertEquals(sum.deadlineNanos, group.nanoTime(), SECOND / 50.0);
        assertTrue(polls < 200, polls + " polls");
        assertEquals(2, group.events.get(0).size(), group.events.get(0)::toString);
    }
}
