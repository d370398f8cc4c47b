package ferro.control.failure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.GroupEvent;
import ferro.control.group.HandDriven;
import ferro.control.group.RankStatus;
import ferro.control.group.RankStatuses;
import ferro.control.group.SubgroupAgreement;
import ferro.control.group.SubgroupAgreement.CreationAttempt;
import ferro.control.group.Watchers;
import java.time.Duration;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The ranks to blame in new groups and in cycles, and the states that ranks report. */
class WaitingRanksTest {
    private static final Duration LOOK = Duration.ofMillis(5);
    private static final int[] BOTH = {0, 1};
    private static final Diagnosis.OwnState MOVING = new Diagnosis.OwnState(0, 1_000_000_000L);
    private static final StatusAnswer IN_BARRIER =
            new StatusAnswer(1, 7, "barrier", 7, 0, 0, "", "in barrier", Set.of(), 0, 0, "");
    private static final StatusAnswer IDLE = new StatusAnswer(1, 0, "", 0, 0, 0, "", "", Set.of(), 0, 0, "");
    /** A group of ranks 2 and 3 of the group "world". */
    private static final Machines OF_WORLD = new Machines(0, new int[] {2, 3}, new RankProcesses() {
        @Override
        public String group() {
            return "world";
        }
    });

    @Test
    void aNewGroupIsReportedLateOnceAtAQuarterOfItsDeadline() {
        HandDriven group = new HandDriven(3);
        CreationAttempt attempt = group.ranks.get(0).agreement().begin(9, BOTH, Duration.ofSeconds(4));
        lookFor(group, attempt, Duration.ofMillis(990));
        assertEquals(List.of(), group.events.get(0));
        lookFor(group, attempt, Duration.ofMillis(500));
        GroupEvent late = group.events.get(0).get(0);
        assertEquals(GroupEvent.Kind.LATE, late.kind());
        assertEquals(List.of(1), late.ranks());
        assertTrue(late.text().contains("in newGroup([0, 1]): rank 1 is in no call of ferro"), late.text());
        lookFor(group, attempt, Duration.ofSeconds(3));
        assertEquals(1, group.events.get(0).size());
        assertEquals(Code.TIMED_OUT, failureOf(attempt).code());
    }

    @Test
    void theFailureOfACancelledNewGroupHasTheOwnWaitingTime() {
        HandDriven group = new HandDriven(2);
        CreationAttempt attempt = group.ranks.get(0).agreement().begin(9, BOTH, Duration.ofSeconds(4));
        group.pass(Duration.ofMillis(700));
        Failure why = new Failure(Code.ABORTED, 1, -1, Set.of(1), "no labels", null);
        group.ranks.get(0).control(1, new ControlMessage.Cancellation(1, why).encoded());
        assertEquals(Duration.ofMillis(700), failureOf(attempt).where().elapsed());
    }

    @Test
    void anAttemptWhoseProposalCannotBeSentIsGivenUp() {
        HandDriven group = new HandDriven(2);
        SubgroupAgreement agreement = group.ranks.get(0).agreement();
        int[] stranger = {0, 7};
        assertThrows(IndexOutOfBoundsException.class, () -> agreement.begin(9, stranger, Duration.ofSeconds(4)));
        assertFalse(agreement.begin(9, BOTH, Duration.ofSeconds(4)).hasEnded());
    }

    private static void lookFor(HandDriven group, CreationAttempt attempt, Duration time) {
        for (long end = group.nanoTime() + time.toNanos(); group.nanoTime() < end; ) {
            group.pass(LOOK);
            attempt.look();
            group.deliverAll();
        }
    }

    private static FerroException failureOf(CreationAttempt attempt) {
        CompletionException ended = assertThrows(
                CompletionException.class,
                () -> attempt.end().toCompletableFuture().join());
        return (FerroException) ended.getCause();
    }

    @Test
    void theStatusOfARankIsReadOnce() {
        RankStatus receive = new RankStatus(0, "recv from rank 1", "", Set.of(1), 5);
        int[] reads = {0};
        RankStatuses statuses = new RankStatuses();
        RankStatuses.GroupStatus seat = new RankStatuses.GroupStatus(
                "pair", OF_WORLD, () -> reads[0]++ == 0 ? receive : RankStatus.IDLE, () -> 0, List::of);
        RankStatuses.ActiveOperation busy = statuses.busy(seat);
        assertEquals(
                "in recv from rank 1, waiting for rank 1 (rank 3 of \"world\")",
                busy.status().sentence(seat.machines()));
        assertEquals(1, reads[0]);
    }

    @Test
    void aCycleAmongManyWaitingRanksIsBlamed() {
        StatusAnswer[] answers = new StatusAnswer[100];
        // rank 0 asks; ranks 10 to 89 form a cycle, 1 to 9 wait for 10, and 90 and above wait for 0
        for (int rank = 1; rank < answers.length; rank++) {
            int next = rank < 10 ? 10 : rank < 89 ? rank + 1 : rank == 89 ? 10 : 0;
            answers[rank] = new StatusAnswer(1, 0, "", 0, 0, 0, "", "in recv", Set.of(next), 0, 0, "");
        }
        Diagnosis.Blame verdict = diagnosis(answers, 0).ofWaiting(range(1, 10), Diagnosis.OwnState.QUIET, "in send");
        assertEquals(range(10, 90), verdict.culprits());
        assertTrue(verdict.isNoRankAlone());
        assertTrue(verdict.text()
                .contains(", 89 wait for each other, so no rank alone is to blame: rank 10 is in recv; "));
        assertFalse(verdict.text().contains("reports this"), verdict.text());
        assertFalse(verdict.timedOut(0, 7, "").isOnlySlow());
    }

    @Test
    void theTextOfACycleHasTheCallOfEachRank() {
        StatusAnswer[] answers = {null, answer(0, 2), answer(0, 0), answer(0, 2)};
        Diagnosis.Blame verdict =
                diagnosis(answers, 0).ofWaiting(only(1), Diagnosis.OwnState.QUIET, "in recv from rank 1");
        assertEquals(range(0, 3), verdict.culprits());
        assertEquals(
                "ranks 0, 1, 2 wait for each other, so no rank alone is to blame: rank 0 is in recv from rank 1, and"
                        + " reports this; rank 1 is in a call that waits for rank 2; rank 2 is in a call that waits for"
                        + " rank 0",
                verdict.text());
    }

    @Test
    void aRankWhoseOwnDataMovesBlamesNoRankAndGivesTheReason() {
        StatusAnswer[] answers = {null, IN_BARRIER};
        assertEquals(only(1), diagnosis(answers, 7).ofCollective(only(1)).culprits(), "it waits for no rank");
        String why =
                "no rank is singled out, because data of rank 0 moved within the last 1000 ms: rank 1 is in barrier";
        for (Diagnosis.Blame verdict : List.of(
                diagnosis(answers, 7).ofCollective(only(1), MOVING),
                diagnosis(answers, 7).ofCollective(only(1), new Diagnosis.OwnState(150_000_000L, 1_000_000_000L)),
                diagnosis(answers, 0).ofWaiting(only(1), MOVING, ""))) {
            assertEquals(new BitSet(), verdict.culprits());
            assertTrue(verdict.timedOut(0, 7, why).isOnlySlow());
            assertEquals(why, verdict.text());
        }
    }

    @Test
    void aPausedRankIsBlamedAlthoughItsDataMovesAgain() {
        StatusAnswer[] answers = {null, StatusAnswer.left(6, "reduceScatter")};
        Diagnosis.OwnState again = new Diagnosis.OwnState(2_200_000_000L, 72_000_000L);
        Diagnosis.Blame verdict = diagnosis(answers, 0).ofWaiting(only(1), again, "");
        assertEquals(only(0), verdict.culprits(), verdict.text());
        assertTrue(verdict.text().contains("(its process was paused 2.2 s)"), verdict.text());
    }

    @Test
    void theTextOfASubgroupAddsTheNumberInTheJoinedGroup() {
        StatusAnswer[] answers = {null, IN_BARRIER};
        String text = new Diagnosis(OF_WORLD, answers, new BitSet(), 7)
                .ofCollective(only(1), MOVING)
                .text();
        assertTrue(text.contains(" because data of rank 0 (rank 2 of \"world\") moved within "), text);
    }

    @Test
    void aCycleOfCollectivesIsOnlySlowWhileDataMoves() {
        StatusAnswer[] answers = {
            null, new StatusAnswer(1, 7, "barrier", 7, 0, 0, "", "in barrier", Set.of(0), 0, 0, "")
        };
        Diagnosis.Blame verdict = diagnosis(answers, 7).ofCollective(only(1), MOVING);
        assertEquals(new BitSet(), verdict.culprits(), verdict.text());
    }

    @Test
    void aCycleWithAMessageIsADeadlockAlthoughDataMoves() {
        for (Diagnosis.Blame verdict : List.of(
                diagnosis(new StatusAnswer[] {null, answer(7, 0)}, 7).ofCollective(only(1), MOVING),
                diagnosis(new StatusAnswer[] {null, answer(0, 0)}, 0)
                        .ofWaiting(only(1), MOVING, "in recv from rank 1"))) {
            assertEquals(range(0, 2), verdict.culprits(), verdict.text());
            assertTrue(verdict.text().startsWith("ranks 0, 1 wait for each other, so no rank alone"), verdict.text());
        }
    }

    @Test
    void aSilentRankOrARankThatHasNotCalledIsBlamedAlthoughDataMoves() {
        Machines machines = new Machines(0, BOTH, RankProcesses.UNKNOWN);
        StatusAnswer idle = new StatusAnswer(1, 6, "barrier", 0, 0, 0, "", "", Set.of(), 0, 0, "");
        StatusAnswer[][] answers = {{null, IN_BARRIER}, {null, null}, {null, answer(6, 0)}, {null, idle}};
        for (StatusAnswer[] each : answers) {
            BitSet slow = each[1] == IN_BARRIER ? only(1) : new BitSet();
            Diagnosis.Blame verdict = new Diagnosis(machines, each, slow, 7).ofCollective(only(1), MOVING);
            assertTrue(verdict.culprits().get(1), verdict.text());
        }
    }

    @Test
    void noRankAloneIsBlamedIfAllWaitForEachOtherInOneCall() {
        StatusAnswer[] answers = {null, answer(7, 0)};
        Diagnosis.Blame verdict = diagnosis(answers, 7).ofCollective(only(1));
        assertEquals(range(0, 2), verdict.culprits());
        assertEquals(
                "ranks 0, 1 wait for each other, so no rank alone is to blame: rank 0 is in this call, and reports this;"
                        + " rank 1 is in a call that waits for rank 0",
                verdict.text());
    }

    @Test
    void noRankAloneIsBlamedIfACycleBlocksTheMissingRank() {
        // rank 1 has not called and waits for rank 2; ranks 0 and 2 wait for each other
        StatusAnswer[] answers = {null, answer(6, 2), answer(7, 0)};
        Diagnosis.Blame verdict = diagnosis(answers, 7).ofCollective(only(2));
        assertEquals(BitSet.valueOf(new long[] {0b101}), verdict.culprits());
        assertTrue(verdict.text().startsWith("ranks 0, 2 wait for each other, so no rank alone"), verdict.text());
    }

    @Test
    void aMessageInFlightIsNotPartOfACycle() {
        StatusAnswer[] answers = {null, answer(0, 0)};
        Diagnosis.Blame verdict = diagnosis(answers, 0).ofWaiting(only(1), Diagnosis.OwnState.QUIET, "");
        assertFalse(verdict.isNoRankAlone());
        assertEquals(only(1), verdict.culprits());
        assertEquals("rank 1 is in a call that waits for rank 0", verdict.text());
    }

    @Test
    void noRankAloneIsBlamedForACycleOfRanksInAndOutsideTheCall() {
        StatusAnswer[] answers = {null, answer(6, 0), answer(7, 0)};
        Diagnosis.Blame verdict = diagnosis(answers, 7).ofCollective(only(1));
        assertEquals(range(0, 2), verdict.culprits());
        assertTrue(verdict.isNoRankAlone());
        assertEquals(
                "ranks 0, 1 wait for each other, so no rank alone is to blame: rank 0 is in this call, and reports this;"
                        + " rank 1 has not made this call, its last call is seq 6 (barrier), and it is in a call that"
                        + " waits for rank 0; rank 2 is in this call",
                verdict.text());
    }

    @Test
    void aChainOfWaitingRanksThatEndsIsNotACycle() {
        StatusAnswer[] answers = {null, answer(0, 2), IDLE};
        Diagnosis.Blame verdict =
                diagnosis(answers, 0).ofWaiting(only(1), Diagnosis.OwnState.QUIET, "in recv from rank 1");
        assertEquals(only(2), verdict.culprits());
        assertFalse(verdict.isNoRankAlone());
    }

    private static StatusAnswer answer(long sequence, int waitsFor) {
        String call = "in a call that waits for rank " + waitsFor;
        return new StatusAnswer(1, sequence, "barrier", 0, 0, 0, "", call, Set.of(waitsFor), 0, 0, "");
    }

    private static BitSet only(int rank) {
        return range(rank, rank + 1);
    }

    private static BitSet range(int from, int to) {
        BitSet ranks = new BitSet();
        ranks.set(from, to);
        return ranks;
    }

    private static Diagnosis diagnosis(StatusAnswer[] answers, long sequence) {
        int[] ranks = IntStream.range(0, answers.length).toArray();
        return new Diagnosis(new Machines(0, ranks, RankProcesses.UNKNOWN), answers, new BitSet(), sequence);
    }

    @Test
    void aRankThatMadeTheCallAndWaitsOutsideTheGroupIsNotBlamed() {
        int[] joinedRanks = {4, 0, 1};
        StatusAnswer[] answers = new StatusAnswer[3];
        // rank 0 has not called and waits outside for rank 1, which waits for rank 3 of the joined group
        answers[0] = new StatusAnswer(1, 0, "", 0, 0, 0, "", "in barrier", Set.of(0), 0, 0, "");
        answers[1] = new StatusAnswer(1, 1, "gather", 0, 0, 0, "", "in barrier", Set.of(3), 0, 0, "");
        Diagnosis ofLast = new Diagnosis(new Machines(2, joinedRanks, RankProcesses.UNKNOWN), answers, new BitSet(), 1);
        assertEquals(only(0), ofLast.ofCollective(only(0)).culprits());

        answers[1] = new StatusAnswer(1, 1, "gather", 0, 0, 0, "", "", Set.of(), 0, 0, "");
        assertEquals(
                only(1), ofLast.ofCollective(only(0)).culprits(), "it has never come to what the first one waits in");
    }

    @Test
    void aPausedRankDoesNotBlameARankThatLeftForAMessageInFlight() {
        StatusAnswer[] answers = {null, StatusAnswer.left(2, "reduceScatter")};
        Diagnosis.Blame quiet = diagnosis(answers, 0).ofWaiting(only(1), Diagnosis.OwnState.QUIET, "in recv");
        assertEquals(only(1), quiet.culprits());
        Diagnosis.Blame still =
                diagnosis(answers, 0).ofWaiting(only(1), new Diagnosis.OwnState(1_200_000_000L, 0), "in recv");
        assertEquals(only(0), still.culprits());
        assertEquals(
                "rank 0 is the rank that reports this (its process was paused 1.2 s); rank 1 is gone: it closed the group"
                        + " normally",
                still.text());
    }

    @Test
    void aPauseBelow100MillisDoesNotExplainATimeout() {
        StatusAnswer[] answers = {null, StatusAnswer.left(2, "reduceScatter")};
        Diagnosis.Blame verdict = diagnosis(answers, 0).ofWaiting(only(1), new Diagnosis.OwnState(99_999_999L, 0), "");
        assertEquals(only(1), verdict.culprits(), verdict.text());
        assertFalse(verdict.text().contains("was paused"), verdict.text());

        answers[1] = new StatusAnswer(1, 0, "", 0, 0, 0, "", "in recv", Set.of(), 0, 99, "");
        Diagnosis.Blame ofOther = diagnosis(answers, 0).ofWaiting(only(1), Diagnosis.OwnState.QUIET, "");
        assertEquals("rank 1 is in recv", ofOther.text());
    }

    @Test
    void aRankThatIsSilentFromTheStartIsSuspected() {
        Watchers world = new Watchers(2, 1000, Map.of());
        world.ranks.get(1).cutTo.add(0);
        world.enter();
        world.pass(Duration.ofSeconds(6));
        List<String> heard = world.ranks.get(0).heard;
        assertEquals(1, heard.size(), heard::toString);
        assertTrue(heard.get(0).startsWith("SUSPECTED 1: nothing heard from rank 1 for 5."), heard::toString);
        world.ranks.get(1).cutTo.clear();
        world.pass(Duration.ofSeconds(3));
        assertTrue(heard.get(1).startsWith("RECOVERED 1"), heard::toString);
        assertEquals(2, heard.size(), heard::toString);
    }

    @Test
    void noRankIsBlamedForAReceiveFromAnyWhileOneRankCanContinue() {
        StatusAnswer[] answers = {null, inRecv(0), inRecv(0, 1, 3), IDLE};

        Diagnosis.Blame free = diagnosis(answers, 0).ofWaitingForAny(range(1, 4), "in recv");
        assertEquals(new BitSet(), free.culprits());
        assertTrue(
                free.text().contains("rank 1 is in recv; rank 2 is in recv; rank 3 is in no call of ferro"),
                free::text);
        // rank 3 may send to rank 2, so a chain of waiting ranks ends at rank 2
        assertEquals(
                only(2),
                diagnosis(answers, 0)
                        .ofWaiting(only(2), Diagnosis.OwnState.QUIET, "in recv")
                        .culprits());

        answers[3] = inRecv(0, 2);
        Diagnosis.Blame stuck = diagnosis(answers, 0).ofWaitingForAny(range(1, 4), "in recv");
        assertEquals(range(0, 4), stuck.culprits());
        assertTrue(stuck.isNoRankAlone());
    }

    @Test
    void aReceiveFromAnyMayBeServedFromOutsideTheGroup() {
        StatusAnswer[] answers = {null, inRecv(0, 5)};
        Diagnosis.Blame verdict = diagnosis(answers, 0).ofWaitingForAny(only(1), "in recv");
        assertEquals(new BitSet(), verdict.culprits());

        answers[1] = inRecv(0);
        assertEquals(
                2,
                diagnosis(answers, 0)
                        .ofWaitingForAny(only(1), "in recv")
                        .culprits()
                        .cardinality());
    }

    /** Returns the answer of a rank that waits for one rank, or for any of several. */
    private static StatusAnswer inRecv(Integer... waitsFor) {
        int sufficient = waitsFor.length > 1 ? 1 : 0;
        return new StatusAnswer(1, 0, "", 0, 0, 0, "", "in recv", Set.of(waitsFor), sufficient, 0, "");
    }
}
