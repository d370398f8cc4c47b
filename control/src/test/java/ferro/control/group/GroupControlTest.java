package ferro.control.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.InvalidRankException;
import ferro.control.failure.ControlMessage;
import ferro.control.failure.ControlMessage.Abort;
import ferro.control.failure.ControlMessage.GroupProposal;
import ferro.control.failure.Failure;
import ferro.control.failure.FailurePolicy;
import ferro.control.failure.RankProcesses;
import ferro.control.membership.Hashing;
import ferro.spi.CallHeader;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class GroupControlTest {
    private static final CallHeader SUM = CallHeader.of(9, 3, 77, "allReduce f32[4] sum");
    private static final CallHeader MAX = CallHeader.of(9, 3, 78, "allReduce f32[4] max");

    private static final long PATIENCE = 30;

    /** The pool has one thread for each waiting rank. The JDK's common pool may have only one thread. */
    private final ExecutorService threads = Executors.newCachedThreadPool();

    private final RealTime context = new RealTime();
    private final HandDriven direct = HandDriven.inRealTime(3, context);
    private final List<GroupControl> ranks = direct.ranks;
    private final int[] failures = direct.failures;
    private HandDriven group = new HandDriven(3);

    @AfterEach
    void endThreads() {
        threads.shutdownNow();
        context.close();
    }

    private static FerroException lost(int peer) {
        return new FerroException(Code.PEER_LOST, Where.of("dp", 0), "rank " + peer + " is gone from 127.0.0.1:9");
    }

    /** Returns the end of a link during a collective. The sequence is 0 if no operation was posted, -1 for messages. */
    private static FerroException lost(int peer, long sequence) {
        Where where = Where.of("dp", 0).blaming(peer).during("", sequence);
        return new FerroException(Code.PEER_LOST, where, "the link to rank " + peer + " has ended");
    }

    @Test
    void aFailureOfTheOwnMediumDoesNotBlameThePeer() {
        Where where = Where.of("dp", 0).blaming(0);
        ranks.get(0).lost(1, new FerroException(Code.ABORTED, where, "rank 0 of \"dp\" failed inside"));
        assertEquals(Set.of(0), ranks.get(2).failure().culprits());
    }

    @Test
    @DisplayName("row 4: whoever does not answer within the time is silent; nobody is where all answer")
    void askingAllRanksReturnsThoseThatDoNotAnswer() {
        assertEquals(Set.of(), ranks.get(0).silentRanks(TimeUnit.SECONDS.toNanos(PATIENCE)));

        direct.standStill(1, true);

        assertEquals(Set.of(1), ranks.get(0).silentRanks(TimeUnit.MILLISECONDS.toNanos(20)));
        assertNull(ranks.get(0).failure(), "asking fails nobody");
    }

    @Test
    void theFirstFailureStaysAndReachesAllRanksOnce() {
        ranks.get(1).fail(new Failure(Code.TIMED_OUT, 1, -1, Set.of(2), "gave up on rank 2 after 3000 ms", null));
        ranks.get(0).fail(new Failure(Code.ABORTED, 0, -1, Set.of(0), "later", null));
        for (int rank = 0; rank < 3; rank++) {
            assertEquals(Code.TIMED_OUT, ranks.get(rank).failure().code());
            assertEquals(Set.of(2), ranks.get(rank).failure().culprits());
            assertEquals(
                    "gave up on rank 2 after 3000 ms", ranks.get(rank).failure().text());
            assertEquals(1, failures[rank], "calls of onFailure on rank " + rank);
        }
    }

    @Test
    void anInterruptAbortsTheOtherRanksAndBlamesTheInterruptedRank() {
        ranks.get(2).fail(new Failure(Code.INTERRUPTED, 2, -1, Set.of(), "rank 2 was interrupted", null));
        assertEquals(Code.ABORTED, ranks.get(2).failure().code(), "the group's; the call alone is interrupted");
        assertEquals(Code.ABORTED, ranks.get(0).failure().code());
        assertEquals(Set.of(2), ranks.get(0).failure().culprits());
    }

    @Test
    void askingFindsADifferentCallAndAllRanksGetBothTexts() {
        ranks.get(0).called(SUM.sequence(), SUM.call());
        ranks.get(1).called(SUM.sequence(), SUM.call());
        ranks.get(2).called(MAX.sequence(), MAX.call());
        ranks.get(0).inquiry().ask(SUM);
        for (GroupControl rank : ranks) {
            assertEquals(Code.MISMATCH, rank.failure().code());
            assertEquals(Set.of(2), rank.failure().culprits());
            String text = rank.failure().text();
            assertTrue(text.contains("rank 0 " + SUM.text()) && text.contains("rank 2 " + MAX.text()), text);
            assertTrue(text.contains("seq 3"), text);
        }
    }

    @Test
    void askingReturnsTheRanksThatHaveNotCalled() {
        ranks.get(0).called(SUM.sequence(), SUM.call());
        ranks.get(1).called(SUM.sequence(), SUM.call());
        ranks.get(0).inquiry().ask(SUM);
        assertEquals("{2}", ranks.get(0).missingAt(3).toString());
        ranks.get(2).called(SUM.sequence(), SUM.call());
        ranks.get(0).inquiry().ask(SUM);
        assertEquals("{}", ranks.get(0).missingAt(3).toString());
        assertNull(ranks.get(0).failure());
    }

    @Test
    void callsAreComparedWithTheLastThousandOfARank() {
        for (long sequence = 1; sequence <= 5000; sequence++) {
            group.ranks.get(1).called(sequence, new CallHeader.Call(9, sequence * 31, "call " + sequence));
        }
        group.ranks.get(0).inquiry().ask(CallHeader.of(9, 3000, 1, "call other"));
        group.deliverAll();
        assertNull(group.ranks.get(0).failure(), "too long ago to compare");
        assertEquals("{2}", group.ranks.get(0).missingAt(3000).toString(), "but called it was");
        group.ranks.get(0).inquiry().ask(CallHeader.of(9, 4500, 1, "call other"));
        group.deliverAll();
        group.pass(Duration.ofMillis(50));
        group.deliverAll();
        assertTrue(group.ranks.get(0).failure().text().contains("rank 1 call 4500"));
    }

    @Test
    void aLostPeerIsBlamedUnlessItSentItsGoodbye() {
        group.ranks.get(1).leave(new BitSet(), GracefulExit.ExitCondition.ALL_HAVE_ALL);
        group.deliverAll();
        group.ranks.get(0).lost(1, lost(1));
        group.pass(Duration.ofMillis(10));
        assertNull(group.ranks.get(0).failure());
        assertTrue(group.ranks.get(0).exits().any());
        group.ranks.get(0).lost(2, lost(2));
        group.pass(Duration.ofMillis(10));
        group.deliverAll();
        assertEquals(Set.of(2), group.ranks.get(0).failure().culprits());
        assertEquals(Set.of(2), group.ranks.get(1).failure().culprits());
    }

    @Test
    void aBrokenLinkWaitsForAMessageThatExplainsIt() {
        group.ranks.get(0).broken(1, lost(1));
        group.pass(Duration.ofMillis(49));
        assertNull(group.ranks.get(0).failure(), "at once");
        group.ranks.get(1).fail(new Failure(Code.TIMED_OUT, 1, -1, Set.of(2), "gave up on rank 2", null));
        group.deliverAll();
        group.pass(Duration.ofMillis(49));
        assertEquals(Code.TIMED_OUT, group.ranks.get(0).failure().code());
    }

    @Test
    @DisplayName("row 12: a broken link is PARTITION if the peer still answers, and PEER_LOST if not")
    void aBrokenLinkIsPartitionIfThePeerAnswersElsePeerLost() {
        group.ranks.get(0).broken(1, lost(1));
        group.ranks.get(2).broken(0, lost(0));
        group.stop(1);
        group.deliverAll();
        group.pass(Duration.ofMillis(50));
        assertEquals(Code.PARTITION, group.ranks.get(2).failure().code());
        assertTrue(group.ranks.get(2).failure().text().contains("the link broke, not the rank"));
        assertNull(group.ranks.get(0).failure(), "what rank 1 says first is why its link ended");
        for (int look = 1; look < 20; look++) {
            group.pass(Duration.ofMillis(50));
        }
        assertEquals(Set.of(1), group.ranks.get(0).failure().culprits());
        assertEquals(Code.PEER_LOST, group.ranks.get(0).failure().code());
        assertFalse(group.ranks.get(0).failure().text().contains("the link broke"));
    }

    @Test
    @DisplayName("the warm-up of the code of a failure uses a few ranks of a large group")
    void theWarmUpOfFailureCodeReadsFewRanks() {
        AtomicInteger calls = new AtomicInteger();
        RankProcesses processes = new RankProcesses() {
            @Override
            public String machine(int rank) {
                calls.incrementAndGet();
                return "machine " + rank / 8;
            }
        };
        new HandDriven(128, FailurePolicy.SHIPPED, processes).ranks.get(126).warm();
        assertTrue(calls.get() > 0, "it runs the code");
        assertTrue(calls.get() <= 64, calls + " calls");
    }

    @Test
    @DisplayName("a rank searches for each proposal of a new group a few times, however many members there are")
    void aRankSearchesForEachProposalAFewTimes() {
        group = new HandDriven(40);
        int[] members = IntStream.range(0, 40).toArray();
        List<SubgroupAgreement.CreationAttempt> proposals = new ArrayList<>();
        group.ranks.forEach(rank -> proposals.add(rank.agreement().begin(9, members, Duration.ofSeconds(20))));
        group.deliverAll();
        proposals.forEach(proposal -> assertTrue(proposal.hasEnded()));
        for (GroupControl rank : group.ranks) {
            assertTrue(rank.agreement().searches() <= 2 * 40, rank.agreement().searches() + " searches");
        }
    }

    @Test
    @DisplayName("in a group of more than 33 ranks the end of a link asks one rank only")
    void theEndOfALinkInALargeGroupQueriesOneRank() {
        group = new HandDriven(40);
        group.ranks.get(0).broken(1, lost(1));
        group.deliverAll();
        assertEquals(1, group.sent(ControlMessage.Query.class));
        group.pass(Duration.ofMillis(50));
        assertEquals(Code.PARTITION, group.ranks.get(0).failure().code());
    }

    @Test
    void aLinkMayEndAfterItsPeerLeftAndAllDataArrived() {
        group.ranks.get(1).called(4, SUM.call());
        group.ranks.get(0).broken(1, lost(1, 5));
        group.ranks.get(1).leave(new BitSet(), GracefulExit.ExitCondition.ALL_HAVE_ALL);
        group.deliverAll();
        group.ranks.get(2).broken(1, lost(1, 5));
        group.ranks.get(2).broken(1, lost(1, 0));
        group.ranks.get(2).broken(1, lost(1, -1));
        for (int look = 0; look <= 20; look++) {
            group.pass(Duration.ofMillis(50));
            group.deliverAll();
        }
        assertNull(group.ranks.get(0).failure(), "its goodbye came after the end of its link");
        assertNull(group.ranks.get(2).failure(), "its goodbye came before the end of its link");
    }

    @Test
    void aWaitingRankWakesIfMessagesOfARankThatLeftAreLost() {
        group = new HandDriven(2);
        group.ranks.get(0).broken(1, lost(1, -1));
        group.ranks.get(1).leave(new BitSet(), GracefulExit.ExitCondition.ALL_HAVE_ALL);
        group.deliverAll();
        int before = group.wakeUps[0];
        for (int wait = 0; wait <= 20; wait++) {
            group.pass(Duration.ofMillis(50));
        }
        assertTrue(group.wakeUps[0] > before, "not woken");
    }

    @Test
    void aRankThatLeftIsBlamedIfPartOfItsDataNeverArrives() {
        group.ranks.get(1).called(4, SUM.call());
        group.ranks.get(1).leave(new BitSet(), GracefulExit.ExitCondition.ALL_HAVE_ALL);
        group.deliverAll();
        group.ranks.get(2).broken(1, lost(1, 4));
        Failure failure = group.ranks.get(2).failure();
        assertEquals(Code.PEER_LOST, failure.code());
        assertEquals(Set.of(1), failure.culprits());
        assertTrue(
                failure.text().contains("left group \"dp\" after seq 4, but some of its data for seq 4 never arrived"),
                failure.text());
    }

    @Test
    void aLeaveEndsWhenAllRanksHaveReceivedItsData() {
        boolean[] over = new boolean[1];
        BitSet losers = new BitSet();
        losers.set(0);
        group.ranks.get(1).called(4, SUM.call());
        group.ranks.get(1).exits().messages().of(2).nextSent();
        group.ranks
                .get(1)
                .leave(losers, GracefulExit.ExitCondition.ALL_HAVE_ALL)
                .whenOver(() -> over[0] = true);
        group.deliverAll();
        assertFalse(over[0], "rank 0 has not ended seq 4, rank 2 has not the message");
        group.ended[0] = 4;
        group.ranks.get(0).exits().confirm();
        group.deliverAll();
        assertFalse(over[0], "rank 2 has not the message");
        group.ended[2] = 4;
        group.ranks.get(2).exits().messages().of(1).countArrived();
        group.ranks.get(2).exits().confirm();
        group.deliverAll();
        assertTrue(over[0]);
    }

    @Test
    void aLeaveDoesNotWaitForRanksThatLeftOrAreLost() {
        boolean[] over = new boolean[1];
        BitSet losers = new BitSet();
        losers.set(0, 3);
        group.ranks.get(1).called(4, SUM.call());
        group.ranks
                .get(1)
                .leave(losers, GracefulExit.ExitCondition.ALL_HAVE_LEFT)
                .whenOver(() -> over[0] = true);
        group.ranks.get(0).leave(new BitSet(), GracefulExit.ExitCondition.ALL_HAVE_ALL);
        group.deliverAll();
        assertFalse(over[0], "rank 2 is there");
        group.ranks.get(1).lost(2, lost(2));
        assertTrue(over[0]);
    }

    @Test
    void anInvalidControlMessageIsAProtocolFailureOfItsSender() {
        ranks.get(0).control(2, ByteBuffer.wrap(new byte[] {1, 2, 3}));
        assertEquals(Code.PROTOCOL, ranks.get(0).failure().code());
        assertEquals(Set.of(2), ranks.get(0).failure().culprits());
    }

    private CompletableFuture<Long> make(int rank, int... members) {
        return CompletableFuture.supplyAsync(
                () -> ranks.get(rank).agreement().reach(9, members, Duration.ofSeconds(20)), threads);
    }

    private static FerroException failureOf(CompletableFuture<?> making) {
        ExecutionException ended = assertThrows(ExecutionException.class, () -> making.get(PATIENCE, TimeUnit.SECONDS));
        return (FerroException) ended.getCause();
    }

    @Test
    void membersOfANewGroupAgreeOnANewIdentityEachTime() throws Exception {
        Set<Long> identities = new HashSet<>();
        for (int round = 0; round < 50; round++) {
            CompletableFuture<Long> other = make(1, 0, 1);
            long identity = ranks.get(0).agreement().reach(9, new int[] {0, 1}, Duration.ofSeconds(20));
            assertEquals(identity, other.get(PATIENCE, TimeUnit.SECONDS));
            assertTrue(identities.add(identity), "identity used twice in round " + round);
        }
    }

    @Test
    void membersThatMakeDifferentGroupsAllFailAtOnce() {
        List<CompletableFuture<Long>> made = List.of(make(0, 0, 1), make(1, 0, 1, 2), make(2, 0, 1, 2));
        for (int rank = 0; rank < 3; rank++) {
            FerroException failure = failureOf(made.get(rank));
            assertEquals(Code.MISMATCH, failure.code(), failure.getMessage());
            assertTrue(
                    failure.getMessage().contains("[0, 1, 2]")
                            && failure.getMessage().contains("[0, 1]"),
                    failure.getMessage());
        }
    }

    @Test
    void afterADisagreementTheNextAttemptSucceeds() throws Exception {
        for (int round = 0; round < 20; round++) {
            List.of(make(0, 0, 1, 2), make(1, 0, 2, 1), make(2, 0, 1, 2)).forEach(GroupControlTest::failureOf);
            List<CompletableFuture<Long>> together = List.of(make(0, 0, 1, 2), make(1, 0, 1, 2), make(2, 0, 1, 2));
            long identity = together.get(0).get(PATIENCE, TimeUnit.SECONDS);
            assertEquals(identity, together.get(1).get(PATIENCE, TimeUnit.SECONDS));
            assertEquals(identity, together.get(2).get(PATIENCE, TimeUnit.SECONDS));
        }
    }

    @Test
    void aMemberThatNeverCallsNewGroupIsNamedAtTheDeadline() {
        FerroException failure = assertThrows(
                FerroException.class, () -> ranks.get(0).agreement().reach(9, new int[] {0, 2}, Duration.ofMillis(50)));
        assertEquals(Code.TIMED_OUT, failure.code());
        assertEquals(Set.of(2), failure.where().culprits());
        assertTrue(failure.getMessage().contains("rank 2 never called newGroup([0, 2])"), failure.getMessage());
    }

    private static GroupProposal agree(long attempt, long turn, String list) {
        return new GroupProposal(attempt, turn, Hashing.of(list), list);
    }

    @Test
    void aMemberMayProposeItsNextGroupEarly() {
        ranks.get(0).agreement().heard(1, agree(5, 1, "[0, 1]"));
        ranks.get(0).agreement().heard(1, agree(6, 2, "[0, 1]"));
        long first = ranks.get(0).agreement().reach(9, new int[] {0, 1}, Duration.ofSeconds(20));
        assertNotEquals(first, ranks.get(0).agreement().reach(9, new int[] {0, 1}, Duration.ofSeconds(20)));
    }

    @Test
    void aSecondNewGroupOfARankIsRefusedWhileOneIsInFlight() {
        group = new HandDriven(2);
        SubgroupAgreement first = group.ranks.get(0).agreement();
        SubgroupAgreement.CreationAttempt attempt = first.begin(5, new int[] {1, 0}, Duration.ofSeconds(PATIENCE));

        IllegalStateException refused = assertThrows(
                IllegalStateException.class, () -> first.begin(5, new int[] {0}, Duration.ofSeconds(PATIENCE)));

        assertTrue(refused.getMessage().contains("another thread waits in newGroup([1, 0])"), refused.getMessage());
        group.ranks.get(1).agreement().begin(5, new int[] {1, 0}, Duration.ofSeconds(PATIENCE));
        group.deliverAll();
        assertTrue(attempt.hasEnded());
    }

    @Test
    void aNewGroupNeedsThisRankAndEachRankOnce() {
        SubgroupAgreement agreement = ranks.get(2).agreement();
        assertEquals(1, agreement.position(new int[] {0, 2}));
        for (String text : List.of("0,2,0: rank 0 appears twice in [0, 2, 0]", "0,1: rank 2 is not among [0, 1]")) {
            int[] members = Stream.of(text.split(":")[0].split(","))
                    .mapToInt(Integer::parseInt)
                    .toArray();
            IllegalArgumentException refused =
                    assertThrows(IllegalArgumentException.class, () -> agreement.position(members));
            assertTrue(refused.getMessage().contains(text.split(": ")[1]), refused.getMessage());
        }
        assertThrows(InvalidRankException.class, () -> agreement.position(new int[] {2, 3}));
    }

    @Test
    void aRankThatLeftBlocksOnlyTheCallsAfterItsLast() {
        ranks.get(1).called(SUM.sequence(), SUM.call());
        ranks.get(1).leave(new BitSet(), GracefulExit.ExitCondition.ALL_HAVE_ALL);
        assertEquals(-1, ranks.get(0).exits().leavers().before(3));
        assertEquals(1, ranks.get(0).exits().leavers().before(4));
    }

    @Test
    void aListOfCulpritsIsCutBetweenTwoRanks() {
        Set<Integer> many = IntStream.range(100, 900).boxed().collect(Collectors.toSet());
        Abort abort = Abort.of(new Failure(Code.TIMED_OUT, 0, -1, many, "late", null), many, 0);
        Abort cut = (Abort) ControlMessage.decode(abort.encoded(), 900);
        assertEquals(abort, cut);
        // each rank has three digits, and a comma separates two ranks
        assertEquals(
                IntStream.range(100, 356).boxed().collect(Collectors.toSet()),
                cut.failure().culprits());
        assertEquals(IntStream.range(100, 160).boxed().collect(Collectors.toSet()), cut.dead());
    }

    @Test
    void aRankThatCancelsANewGroupForwardsItsCulprits() {
        int[] all = {0, 1, 2};
        ranks.get(2).control(0, agree(1, 1, "[0, 1, 2]").encoded());
        assertThrows(FerroException.class, () -> ranks.get(2).agreement().reach(5, all, Duration.ofMillis(1)));

        FerroException heard = assertThrows(
                FerroException.class, () -> ranks.get(0).agreement().reach(5, all, Duration.ofSeconds(PATIENCE)));

        assertEquals(Code.TIMED_OUT, heard.code());
        assertEquals(Set.of(1), heard.where().culprits(), heard.getMessage());
    }
}
