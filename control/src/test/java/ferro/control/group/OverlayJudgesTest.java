package ferro.control.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.control.failure.ControlMessage.Abort;
import ferro.control.failure.ControlMessage.LeaveReport;
import ferro.control.failure.ControlMessage.SuspectReport;
import ferro.control.failure.Failure;
import ferro.control.failure.FailurePolicy;
import ferro.control.failure.RankProcesses;
import ferro.control.group.SubgroupAgreement.CreationAttempt;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The ranks that judge a silent or dead rank in groups in which few ranks know whether that rank had left. */
class OverlayJudgesTest {
    private static final Duration LATER = Duration.ofMillis(100);
    private static final int SIZE = 40;

    /** The size of the largest full mesh in this test. */
    private static final int FORCED = 4;

    /** Ranks 7 and 21, which are not neighbours, share a process. */
    private static final RankProcesses SHARED = new RankProcesses() {
        @Override
        public BitSet sharing(int rank) {
            BitSet ranks = new BitSet();
            ranks.set(rank);
            if (rank == 7 || rank == 21) {
                ranks.set(7);
                ranks.set(21);
            }
            return ranks;
        }
    };

    private final HandDriven group = HandDriven.withMesh(SIZE, FORCED, FailurePolicy.SHIPPED, SHARED);

    /** Lets a rank report that another one has been silent for too long. */
    private void silent(int observer, int rank) {
        group.silent(observer, rank);
        passAndDeliver();
    }

    private void abortByRank3() {
        group.ranks.get(3).fail(new Failure(Code.ABORTED, 3, -1, Set.of(3), "rank 3 aborted", null));
        group.deliverAll();
    }

    private void passAndDeliver() {
        for (int wait = 0; wait < 6; wait++) {
            group.deliverAll();
            group.pass(LATER);
        }
        group.deliverAll();
    }

    private void assertAllBlame(Code code, Set<Integer> culprits, Integer... others) {
        Set<Integer> leftOut = Set.of(others);
        IntStream.range(0, SIZE).filter(rank -> !leftOut.contains(rank)).forEach(rank -> {
            Failure failure = group.ranks.get(rank).failure();
            assertNotNull(failure, "rank " + rank + " does not know");
            assertEquals(code, failure.code(), "rank " + rank);
            assertEquals(culprits, failure.culprits(), "rank " + rank);
        });
    }

    private void assertNoFailure() {
        IntStream.range(0, SIZE)
                .forEach(rank -> assertNull(group.ranks.get(rank).failure(), "rank " + rank));
    }

    @Test
    @DisplayName("a rank that is no neighbour of the silent one fails the group, as long as nobody has left")
    void aSilenceThatNoNeighbourDetectsFailsTheGroup() {
        silent(0, 7);
        assertAllBlame(Code.PARTITION, Set.of(7));
        assertEquals(0, group.sent(SuspectReport.class));
    }

    @Test
    @DisplayName("after a leave the next rank after the silent one judges a silence that no neighbour sees")
    void aSilenceThatNoNeighbourDetectsFailsTheGroupAfterALeave() {
        group.leave(20, 1);
        silent(0, 7);
        assertAllBlame(Code.PARTITION, Set.of(7), 20);
        assertEquals(1, group.sent(SuspectReport.class));
    }

    @Test
    @DisplayName("a rank that has left is not blamed for its silence, also where its leave is not known")
    void aSilentRankThatHasLeftIsNotBlamed() {
        group.leave(20, 1);
        group.leave(7, 3);
        assertFalse(group.ranks.get(0).exits().leavers().has(7), "rank 0 does not hear of the second leaver");
        silent(0, 7);
        assertNoFailure();
        assertTrue(group.sent(SuspectReport.class) > 0);
    }

    @Test
    @DisplayName(
            "a neighbour whose goodbye does not arrive is blamed for its silence, although others tell of its leave")
    void aSilentNeighbourIsBlamedIfItsGoodbyeNeverArrived() {
        group.ranks.get(0).control(1, new LeaveReport(4, 1, 77, "barrier").encoded());
        silent(0, 4);
        assertAllBlame(Code.PARTITION, Set.of(4));
    }

    @Test
    @DisplayName("a rank behind ranks that have left, closed or not, judges a silence")
    void aRankBeyondRanksThatLeftJudgesASilence() {
        group.leave(20, 1);
        group.leave(14, 3);
        group.leave(15, 3);
        group.close(14);
        assertFalse(group.ranks.get(0).exits().leavers().has(14), "rank 0 does not hear of the second leaver");
        silent(0, 13);
        assertAllBlame(Code.PARTITION, Set.of(13), 14, 15, 20);
        assertTrue(group.sent(SuspectReport.class) > 1);
    }

    @Test
    @DisplayName("a goodbye that is read just after the report of a silence still counts")
    void aGoodbyeThatIsReadAfterTheReportOfASilenceCounts() {
        group.leave(20, 1);
        group.standStill(8, true);
        group.leave(7, 3);
        group.ranks
                .get(8)
                .control(0, new SuspectReport(new Failure(Code.PARTITION, 0, -1, Set.of(7), "silent", null)).encoded());
        group.standStill(8, false);
        passAndDeliver();
        assertNoFailure();
    }

    @Test
    @DisplayName("a silence that nobody blames is reported once, whoever leaves later")
    void aSilenceIsReportedOnce() {
        group.leave(20, 1);
        group.leave(7, 3);
        silent(0, 7);
        int once = group.sent(SuspectReport.class);
        group.leave(1, 3);
        group.leave(2, 3);
        assertTrue(group.ranks.get(0).exits().has(2));
        assertEquals(once, group.sent(SuspectReport.class));
    }

    @Test
    @DisplayName("a rank that is heard of again before it was judged is not blamed")
    void aRankThatSendsAgainBeforeItIsJudgedIsNotBlamed() {
        group.leave(20, 1);
        group.silent(0, 7);
        group.ranks.get(0).found(7);
        group.leave(8, 3);
        passAndDeliver();
        assertNoFailure();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName("a connection that ends between two ranks that are no neighbours fails the group")
    void aConnectionThatEndsBetweenNonNeighboursFailsTheGroup(boolean afterALeave) {
        if (afterALeave) {
            group.leave(8, 1);
        }
        Where where = Where.of("dp", 0).blaming(7);
        group.ranks.get(0).cutOff(7, new FerroException(Code.PEER_LOST, where, "the connection to rank 7 has ended"));
        passAndDeliver();
        assertAllBlame(Code.PEER_LOST, Set.of(7), afterALeave ? new Integer[] {8} : new Integer[0]);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName(
            "of a process that ends after a leave, ranks do not blame one that had left, also if they do not know of it")
    void aRankThatLeftIsNotBlamedForTheEndOfItsProcess(boolean hasLeft) {
        group.leave(20, 1);
        if (hasLeft) {
            group.leave(21, 3);
        }
        group.stop(7);
        group.stop(21);
        IntStream.range(0, SIZE)
                .filter(rank -> rank != 7 && rank != 20 && rank != 21)
                .forEach(rank -> group.lost(rank, 7, 21));
        passAndDeliver();
        assertAllBlame(Code.PEER_LOST, hasLeft ? Set.of(7) : Set.of(7, 21), 7, 20, 21);
    }

    @Test
    @DisplayName("newGroup fails at once for a member that leaves without it, before or after it hears of the attempt")
    void newGroupFailsIfAMemberLeavesBeforeItsCall() {
        group.leave(20, 1);
        int[] members = {0, 7, 25};
        CreationAttempt early = group.ranks.get(0).agreement().begin(1, members, Duration.ofSeconds(60));
        group.deliverAll();
        group.leave(7, 3);
        assertLeft(early);
        int[] others = {7, 25};
        CreationAttempt late = group.ranks.get(25).agreement().begin(1, others, Duration.ofSeconds(60));
        group.deliverAll();
        assertLeft(late);
    }

    @Test
    @DisplayName("newGroup succeeds if a member leaves after its call, and its leave is heard of before its call")
    void newGroupSucceedsIfAMemberLeavesAfterItsCall() {
        int[] members = {0, 7, 25};
        List<CreationAttempt> attempts = new ArrayList<>();
        for (int member : new int[] {0, 25, 7}) {
            attempts.add(group.ranks.get(member).agreement().begin(1, members, Duration.ofSeconds(60)));
            if (member != 7) {
                group.deliverAll();
            }
        }
        group.ranks.get(0).control(8, new LeaveReport(7, 1, 77, "barrier").encoded());
        group.leave(7, 1);
        for (CreationAttempt attempt : attempts) {
            assertTrue(attempt.hasEnded());
            assertEquals(
                    attempts.get(0).end().toCompletableFuture().join(),
                    attempt.end().toCompletableFuture().join());
        }
    }

    @Test
    @DisplayName("a rank that leaves after it has seen the end of another one does not say that the other one had left")
    void aRankThatLeavesDoesNotReportADeadRankAsLeft() {
        group.leave(20, 1);
        group.stop(7);
        group.lost(8, 7);
        group.leave(8, 3);
        assertFalse(group.ranks.get(6).exits().leavers().has(7));
        assertFalse(group.ranks.get(9).exits().leavers().has(7));
        IntStream.range(0, SIZE)
                .filter(rank -> rank != 7 && rank != 8 && rank != 20)
                .forEach(rank -> group.lost(rank, 7));
        passAndDeliver();
        assertAllBlame(Code.PEER_LOST, Set.of(7), 7, 8, 20);
    }

    /** Ends some ranks. All others see the ends, and the medium reports them as deaths. */
    private void end(Integer... ranks) {
        Set<Integer> ended = Set.of(ranks);
        ended.forEach(group::stop);
        for (int rank = 0; rank < SIZE; rank++) {
            for (int one : ended) {
                if (!ended.contains(rank)) {
                    group.lost(rank, one);
                }
            }
        }
        passAndDeliver();
    }

    @Test
    @DisplayName(
            "a rank that exits after its goodbyes costs no report, although only its neighbours know that it had left")
    void theExitOfARankThatLeftSendsNoReport() {
        group.leave(20, 1);
        group.leave(7, 3);
        end(7);
        assertNoFailure();
        assertEquals(0, group.sent(SuspectReport.class));
        assertTrue(group.ranks.get(0).exits().has(7), "rank 0 takes it for a leaver");
    }

    @Test
    @DisplayName(
            "a rank that dies when its neighbour on the ring has just left is blamed by the rank that replaces that one")
    void aRankThatDiesJustAfterItsNeighboursHaveLeftIsBlamed() {
        for (int neighbour : new int[] {3, 5, 6, 8, 9, 11, 15, 23, 31, 39}) {
            group.leave(neighbour, 3);
        }
        end(7);
        assertAllBlame(Code.PEER_LOST, Set.of(7), 3, 5, 6, 7, 8, 9, 11, 15, 23, 31, 39);
    }

    @Test
    @DisplayName("a rank that leaves a failed group and exits is not lost, also where its goodbye was not received")
    void aRankThatLeavesAFailedGroupIsNotLost() {
        abortByRank3();
        group.ranks.get(7).leave(new BitSet(), GracefulExit.ExitCondition.ALL_HAVE_HEARD);
        group.deliverAll();
        end(7);
        assertLost(Set.of(), 7);
    }

    @Test
    @DisplayName("a rank that dies after the failure is lost on all ranks, for few messages")
    void aRankThatDiesAfterTheFailureIsLostOnAllRanks() {
        abortByRank3();
        int before = group.sent(Abort.class);
        end(7, 8, 30);
        assertLost(Set.of(7, 8, 30), 7, 8, 30);
        assertEquals(0, group.sent(SuspectReport.class));
        int sent = group.sent(Abort.class) - before;
        assertTrue(sent <= 2 * SIZE * 11, sent + " messages");
    }

    @Test
    @DisplayName(
            "a rank that dies after the failure is lost on all ranks, also if its neighbours close the group at once")
    void aRankThatDiesAfterTheFailureIsLostAlthoughItsNeighboursClose() {
        abortByRank3();
        group.stop(7);
        IntStream.range(0, SIZE).filter(rank -> rank != 7).forEach(rank -> group.lost(rank, 7));
        group.pass(LATER);
        for (int neighbour : new int[] {3, 5, 6, 8, 9, 11, 15, 23, 31, 39}) {
            group.ranks.get(neighbour).leave(new BitSet(), GracefulExit.ExitCondition.ALL_HAVE_HEARD);
        }
        passAndDeliver();
        assertLost(Set.of(7), 7);
    }

    @Test
    @DisplayName("a rank that closes the group at once forwards a death that it has received before")
    void aRankThatClosesForwardsADeath() {
        abortByRank3();
        Failure known = group.ranks.get(20).failure();
        group.ranks.get(20).control(12, Abort.of(known, Set.of(7), 0).encoded());
        group.ranks.get(20).leave(new BitSet(), GracefulExit.ExitCondition.ALL_HAVE_HEARD);
        group.deliverAll();
        assertEquals(Set.of(7), group.ranks.get(21).lostRanks());
    }

    @Test
    @DisplayName("a rank whose goodbye is read after its end was seen is not sent as dead")
    void aRankWhoseGoodbyeIsReadLateIsNotReportedDead() {
        abortByRank3();
        group.lost(8, 7);
        group.pass(LATER);
        assertEquals(Set.of(7), group.ranks.get(8).lostRanks());
        group.ranks.get(7).leave(new BitSet(), GracefulExit.ExitCondition.ALL_HAVE_HEARD);
        passAndDeliver();
        assertLost(Set.of(), 7);
    }

    @Test
    @DisplayName("of two ranks that die together both are lost, also if the failure names one of them")
    void aRankThatDiesTogetherWithTheCulpritIsLost() {
        end(7, 30);
        assertLost(Set.of(7, 30), 7, 30);
    }

    private void assertLost(Set<Integer> lost, Integer... others) {
        Set<Integer> leftOut = Set.of(others);
        for (int rank = 0; rank < SIZE; rank++) {
            if (!leftOut.contains(rank)) {
                assertEquals(lost, group.ranks.get(rank).lostRanks(), "rank " + rank);
            }
        }
    }

    private static void assertLeft(CreationAttempt attempt) {
        assertTrue(attempt.hasEnded());
        CompletionException failure = assertThrows(
                CompletionException.class,
                () -> attempt.end().toCompletableFuture().join());
        FerroException why = (FerroException) failure.getCause();
        assertEquals(Code.PEER_LOST, why.code(), why.getMessage());
        assertEquals(Set.of(7), why.where().culprits());
    }
}
