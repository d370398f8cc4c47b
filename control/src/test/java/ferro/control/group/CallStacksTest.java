package ferro.control.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException.Code;
import ferro.control.failure.AnswerTable;
import ferro.control.failure.Failure;
import ferro.control.failure.FailurePolicy;
import ferro.control.failure.Machines;
import ferro.control.failure.StatusAnswer;
import ferro.recorder.ThreadStack;
import ferro.spi.CallHeader;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The lines of the program in the answers of ranks, and the times at which stacks are taken. */
class CallStacksTest {
    private static final CallHeader BARRIER = CallHeader.of(9, 1, 77, "barrier");
    private static final CallHeader OTHER = CallHeader.of(9, 1, 78, "broadcast");
    private static final RankStatus IN_BARRIER = new RankStatus(1, "barrier", "", Set.of(2), 0);
    private static final String LINE = "Train.step at Train.java:7";
    private static final Duration LONGER_THAN_STACKS_ARE_KEPT = Duration.ofMillis(21);

    private final HandDriven group = new HandDriven(3);
    private final LineOfTest main = new LineOfTest("load", 88);

    /** Returns the text of a timeout of rank 0, whose first call waits for the given ranks. */
    private String timeout(Integer... ranks) {
        group.ranks.get(0).called(1, BARRIER.call());
        TimeoutProbe probe = group.ranks.get(0).timeoutProbe();
        long begun = group.nanoTime();
        long deadline = begun + Duration.ofSeconds(1).toNanos();
        probe.begin();
        while (!probe.mayJudge(BARRIER, null, begun, deadline, group.nanoTime())) {
            group.pass(Duration.ofMillis(5));
            // asks for an answer without a line, which arrives after one with a line
            group.ranks.get(0).inquiry().ask(BARRIER);
            group.deliverAll();
        }
        BitSet waitedFor = new BitSet();
        List.of(ranks).forEach(waitedFor::set);
        return probe.collective(1, begun, waitedFor, 0).text();
    }

    @Test
    void aRankInNoCallReportsTheLineOfTheThreadThatJoined() {
        group.ranks.get(2).joinedBy(main);

        assertTrue(timeout(2).contains("and it is in no call of ferro: Train.load at Train.java:88 (sleeping)"));
        assertEquals(
                "asked by a rank that waits: Train.load at Train.java:88 (sleeping)",
                group.recorded.get(2).get(0));
    }

    @Test
    void theTextHasTheLineOfTheLastAnswer() {
        group.ranks.get(2).joinedBy(main);
        group.ranks.get(0).called(1, BARRIER.call());
        TimeoutProbe warning = group.ranks.get(0).timeoutProbe();
        long now = group.nanoTime();
        warning.begin();
        warning.mayJudge(BARRIER, null, now, now, now);
        group.deliverAll();
        main.at("store", 90);

        assertTrue(timeout(2).contains("Train.store at Train.java:90"));
    }

    @Test
    void theAnswerReportsAJoiningThreadThatEndedOrExecutesNoProgramCode() {
        group.ranks.get(2).joinedBy(main);
        main.end();
        assertTrue(timeout(2).contains("in no call of ferro: the thread that joined has ended"));
        main.atJdk();
        group.pass(LONGER_THAN_STACKS_ARE_KEPT);
        assertTrue(timeout(2).contains("in no call of ferro: the thread that joined executes no code of the program"));
    }

    @Test
    void aRankInACallReportsTheLineThatHasMadeTheCall() {
        main.at("main", 5);
        group.ranks.get(2).joinedBy(main);
        group.ranks.get(1).called(1, BARRIER.call());
        group.statuses[1] = IN_BARRIER;
        group.callers.get(1).add(new LineOfTest("step", 7));
        group.callers.get(1).add(new LineOfTest("check", 9));
        group.ranks.get(2).called(1, BARRIER.call());
        group.statuses[2] = new RankStatus(1, "barrier", "", Set.of(1), 0);

        String text = timeout(1);

        assertTrue(
                text.contains("rank 1 is in barrier seq 1, waiting for rank 2, called by Train.step at Train.java:7"
                        + " and Train.check at Train.java:9"),
                text);
        assertTrue(
                text.contains("rank 2 is in barrier seq 1, waiting for rank 1, while its thread executes Train.main at"
                        + " Train.java:5 (sleeping)"),
                text);
    }

    @Test
    void aQuestionAboutASlowCallReadsNoStack() {
        LineOfTest caller = new LineOfTest("step", 7);
        group.ranks.get(2).joinedBy(main);
        group.callers.get(2).add(caller);
        group.ranks.get(2).called(1, BARRIER.call());
        group.statuses[2] = IN_BARRIER;
        group.ranks.get(0).called(1, BARRIER.call());
        group.ranks.get(0).inquiry().ask(BARRIER);
        group.ranks.get(0).compareCalls(1, 1);
        group.deliverAll();

        assertEquals(0, main.taken.get() + caller.taken.get());
        assertEquals(List.of(), group.recorded.get(2));
    }

    @Test
    void anAnswerWithoutALineKeepsTheOldLineInTheSameCall() {
        AnswerTable board = new AnswerTable(0, 2);
        board.answered(1, answer(1, 4, "in barrier", LINE));
        board.answered(1, answer(2, 4, "in barrier", ""));
        assertEquals(LINE, board.answers(0)[1].location());
        board.answered(1, answer(3, 0, "", ""));
        assertEquals("", board.answers(0)[1].location());
    }

    private static StatusAnswer answer(long ask, long current, String position, String line) {
        return new StatusAnswer(ask, 4, "", current, 0, 0, "", position, Set.of(), 0, 0, line);
    }

    @Test
    void anAnswerAboutAnotherMessageOrGroupDropsThePreviousLine() {
        AnswerTable board = new AnswerTable(0, 2);
        String position = "in receive from rank 2, waiting for rank 2 of group \"a\"";
        board.answered(1, answer(1, 0, position, LINE));
        board.answered(1, answer(2, 0, "in receive from rank 2 of group \"a\"", ""));
        assertEquals(LINE, board.answers(0)[1].location());
        board.answered(1, answer(3, 0, "in receive from rank 2 of group \"b\"", ""));
        assertEquals("", board.answers(0)[1].location());

        board.answered(1, answer(4, 0, position, LINE));
        board.answered(1, answer(5, 0, "in send to rank 2, waiting for rank 2", ""));
        assertEquals("", board.answers(0)[1].location());
    }

    @Test
    void ranksThatAskTogetherGetTheSameStack() {
        group.ranks.get(2).joinedBy(main);
        List<ThreadStack> first = group.ranks.get(2).stacks();
        assertTrue(first == group.ranks.get(2).stacks());
        group.pass(LONGER_THAN_STACKS_ARE_KEPT);
        group.ranks.get(2).stacks();

        assertEquals(2, main.taken.get());
    }

    @Test
    void stacksAreTakenAgainAfterACallBeginsOrEnds() {
        group.ranks.get(2).joinedBy(main);
        group.ranks.get(2).stacks();
        group.ranks.get(2).called(1, BARRIER.call());
        assertEquals(1, group.ranks.get(2).stacks().size());
        assertEquals(2, main.taken.get());

        group.callers.get(2).add(main);
        group.statuses[2] = new RankStatus(1, "barrier", "", Set.of(0), 5);
        assertEquals("dp", group.ranks.get(2).stacks().get(0).group());
        group.statuses[2] = new RankStatus(1, "barrier", "step 1 of 2", Set.of(1), 5);
        group.ranks.get(2).stacks();
        assertEquals(3, main.taken.get());

        group.statuses[2] = new RankStatus(0, "receive", "", Set.of(1), 6);
        group.ranks.get(2).stacks();
        group.statuses[2] = new RankStatus(0, "receive", "", Set.of(1), 7);
        group.ranks.get(2).stacks();
        assertEquals(5, main.taken.get());
    }

    @Test
    void eachRankRecordsItsStacksBeforeAFailureEndsItsCalls() {
        for (int rank = 0; rank < 3; rank++) {
            group.callers.get(rank).add(new LineOfTest("step", 10 + rank));
        }
        group.ranks.get(1).fail(new Failure(Code.ABORTED, 1, -1, Set.of(1), "no labels", null));
        group.deliverAll();

        for (int rank = 0; rank < 3; rank++) {
            assertEquals(List.of("failure of group dp: Train.step at Train.java:1" + rank), group.recorded.get(rank));
        }
    }

    @Test
    void equalLinesOfAMismatchAreReportedOnce() {
        int[] lines = {7, 7, 95};
        for (int rank = 0; rank < 3; rank++) {
            CallHeader made = rank == 2 ? OTHER : BARRIER;
            group.ranks.get(rank).called(1, made.call());
            group.statuses[rank] = new RankStatus(1, made.text(), "", Set.of(0), 0);
            group.callers.get(rank).add(new LineOfTest("step", lines[rank]));
        }
        group.ranks.get(0).inquiry().ask(BARRIER);
        group.deliverAll();

        for (int rank = 0; rank < 3; rank++) {
            assertEquals(
                    "ranks made different calls at seq 1: rank 0 barrier (called by Train.step at Train.java:7), rank 1"
                            + " barrier, rank 2 broadcast (called by Train.step at Train.java:95): all ranks must make the"
                            + " same calls in the same order",
                    group.ranks.get(rank).failure().text());
        }
    }

    @Test
    void aRankThatHasLeftTheCallReportsItsCurrentLine() {
        group.ranks.get(0).called(1, BARRIER.call());
        group.ranks.get(1).called(1, OTHER.call());
        group.ranks.get(1).joinedBy(main);
        String text = failureOfAQuestion();
        assertTrue(text.contains("rank 1 broadcast (Train.load at Train.java:88 (sleeping)): all"), text);
    }

    @Test
    void theLineOfALaterCallIsNotReportedForTheEarlierCall() {
        group.ranks.get(0).called(1, BARRIER.call());
        group.ranks.get(1).called(1, OTHER.call());
        group.statuses[1] = new RankStatus(2, "gather", "", Set.of(0), 0);
        group.callers.get(1).add(new LineOfTest("later", 20));
        String text = failureOfAQuestion();
        assertTrue(text.contains("rank 0 barrier, rank 1 broadcast: all"), text);
    }

    private String failureOfAQuestion() {
        group.ranks.get(0).inquiry().ask(BARRIER);
        for (int millis = 0; millis < 60; millis++) {
            group.pass(Duration.ofMillis(1));
            group.deliverAll();
        }
        return group.ranks.get(0).failure().text();
    }

    @Test
    void anUnreadableThreadFailsNothing() {
        Thread unreadable = new Thread() {
            @Override
            public StackTraceElement[] getStackTrace() {
                throw new SecurityException("not allowed");
            }
        };
        group.ranks.get(2).joinedBy(unreadable);
        String text = timeout(2);
        assertTrue(text.endsWith("and it is in no call of ferro"), text);
        // ferro has only a weak reference to the thread
        Reference.reachabilityFence(unreadable);
    }

    @Test
    void aRankThatSharesItsThreadReportsNoStacks() {
        RankStatuses shared = RankStatuses.withoutStacks();
        shared.joinedBy(main);
        shared.enter(new RankStatuses.GroupStatus("dp", null, () -> RankStatus.IDLE, () -> 0, () -> List.of(main)));

        assertEquals(List.of(), shared.stacks(0));
        assertEquals(0, main.taken.get());
    }

    @Test
    void aCallOfAnotherGroupHasNoNumberInThisGroup() {
        RankStatuses statuses = new RankStatuses();
        RankStatus inOther = new RankStatus(7, "barrier", "", Set.of(), 0);
        Machines machines = group.ranks.get(2).machines();
        statuses.enter(new RankStatuses.GroupStatus("other", machines, () -> inOther, () -> 7, List::of));
        RankStatuses.GroupStatus own =
                new RankStatuses.GroupStatus("dp", machines, () -> RankStatus.IDLE, () -> 0, List::of);
        ControlledGroup owner = group.new Hears(2, FailurePolicy.SHIPPED);
        StatusAnswer status = new StatusResponder(statuses, own, new CallHistory(), owner, () -> 0).status(1, 0);
        assertEquals("0, in barrier seq 7 of group \"other\"", status.running() + ", " + status.place());
    }

    @Test
    void atMost16StacksAreTakenAndEachThreadOnce() {
        RankStatuses statuses = new RankStatuses();
        statuses.joinedBy(main);
        List<Thread> many = new ArrayList<>();
        for (int thread = 0; thread < 40; thread++) {
            many.add(thread == 3 ? main : new LineOfTest("step", thread));
        }
        statuses.enter(new RankStatuses.GroupStatus("dp", null, () -> RankStatus.IDLE, () -> 0, () -> many));

        assertEquals(16, statuses.stacks(0).size());
        assertEquals(1, main.taken.get());
        assertTrue(statuses.stacks(0).get(3).isJoining());
        String lines = CallStacks.callersOf("dp", statuses.stacks(0));
        assertTrue(lines.length() <= ThreadStack.MAX_LOCATION, lines);
        assertTrue(lines.endsWith(" and Train.step at Train.java:5"), lines);
        assertEquals("", CallStacks.callersOf("other", statuses.stacks(0)));
    }

    @Test
    void aJoiningThreadThatWasCollectedIsReportedAsEnded() {
        CallStacks stacks = new CallStacks();
        stacks.joinedBy(new LineOfTest("load", 88));
        long nanos = 0;
        do {
            System.gc();
            nanos += 1_000_000_000L;
        } while (stacks.of(List.of(), nanos).get(0).isAlive() && nanos < 100_000_000_000L);

        assertEquals(
                "the thread that joined has ended",
                CallStacks.line(stacks.of(List.of(), nanos).get(0)));
    }
}
