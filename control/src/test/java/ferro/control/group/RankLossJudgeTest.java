package ferro.control.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.control.failure.ControlMessage.Abort;
import ferro.control.failure.FailurePolicy;
import ferro.control.failure.RankProcesses;
import java.time.Duration;
import java.util.BitSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The ranks that are blamed or lost when a process with several ranks ends, with every message delivered by hand. */
class RankLossJudgeTest {
    private static final Duration GRACE = Duration.ofMillis(10);
    private static final Duration LATER = Duration.ofMillis(300);
    private static final String ALL_GONE =
            "ranks 0, 2, 4 (pid 7 on host h) are gone: their process has ended without closing its"
                    + " groups; its own output may say why";

    /** All even ranks are in one process, each odd rank has its own. */
    private static final RankProcesses SHARED = new RankProcesses() {
        @Override
        public BitSet sharing(int rank) {
            BitSet ranks = new BitSet();
            for (int even = 0; even < 6 && rank % 2 == 0; even += 2) {
                ranks.set(even);
            }
            ranks.set(rank);
            return ranks;
        }

        @Override
        public String placed(int rank) {
            return rank % 2 == 0 ? " (pid 7 on host h)" : "";
        }
    };

    private HandDriven group = new HandDriven(5, FailurePolicy.SHIPPED, SHARED);

    private void assertStory(int survivor, String culprits, String text) {
        assertEquals(Code.PEER_LOST + " of " + culprits + ": " + text, group.story(survivor));
    }

    @Test
    void allRanksOfAnEndedProcessAreBlamedOnEachSurvivorWithoutMessages() {
        group.lost(1, 0, 2, 4);
        group.lost(3, 4);
        group.pass(GRACE);
        group.lost(3, 0, 2);
        group.pass(GRACE);

        for (int told = 0; told < 2; told++) {
            for (int survivor : new int[] {1, 3}) {
                assertStory(survivor, "0,2,4", ALL_GONE);
            }
            group.deliverAll(new Random(5), true);
        }
    }

    @Test
    void allRanksOfAProcessAreBlamedInOneTextIfConnectionsEndInTurn() {
        for (int rank : new int[] {0, 2, 4}) {
            group.lost(1, rank);
            group.pass(GRACE.multipliedBy(RankLossJudge.PROCESS_WAITS / 2));
        }

        assertStory(1, "0,2,4", ALL_GONE);
    }

    @Test
    void aRankThatLeftBeforeIsNotLostWithItsProcess() {
        group.ranks.get(2).leave(new BitSet(), GracefulExit.ExitCondition.ALL_HAVE_ALL);
        group.deliverAll();
        group.lost(1, 0, 2, 4);
        group.pass(GRACE);

        assertStory(
                1,
                "0,4",
                "ranks 0, 4 (pid 7 on host h) are gone: their process has ended without closing its groups; its own"
                        + " output may say why");
        assertEquals(Set.of(0, 4), group.ranks.get(1).lostRanks());
    }

    @Test
    void onlyTheLostRankOfALivingProcessIsBlamed() {
        group.lost(1, 0);
        group.pass(GRACE);
        assertNull(group.ranks.get(1).failure(), "the others of its process may follow");
        group.pass(GRACE.multipliedBy(RankLossJudge.PROCESS_WAITS));

        assertStory(1, "0", "rank 0 is gone");
    }

    @Test
    void aRankWhoseEndIsSeenLateIsBlamedWithItsProcess() {
        group.lost(1, 0);
        group.pass(GRACE.multipliedBy(RankLossJudge.PROCESS_WAITS + 1));
        assertStory(1, "0", "rank 0 is gone");
        group.lost(1, 2);
        group.pass(GRACE);
        group.pass(GRACE);

        assertEquals(Set.of(0, 2), group.ranks.get(1).failure().culprits());
    }

    @Test
    void lateEndsOfRanksOfOneProcessBecomeOneCause() {
        for (int rank : new int[] {0, 2, 4}) {
            group.stop(rank);
        }
        group.lost(1, 0);
        group.pass(GRACE.multipliedBy(RankLossJudge.PROCESS_WAITS + 1));
        group.deliverAll();
        assertStory(3, "0", "rank 0 is gone");
        for (int rank : new int[] {2, 4}) {
            group.pass(LATER);
            group.lost(3, rank);
            group.pass(GRACE);
        }
        group.lost(3, 0);
        group.pass(GRACE);
        group.deliverAll();

        for (int survivor : new int[] {1, 3}) {
            assertStory(survivor, "0,2,4", ALL_GONE);
            assertEquals(1, group.failures[survivor], "told once");
        }
    }

    @Test
    void deathsAfterTheFirstFailureAreLostButNotBlamed() {
        group.lost(1, 3);
        group.pass(GRACE);
        group.deliverAll();
        Set<Integer> first = group.ranks.get(1).lostRanks();
        group.pass(LATER);
        group.lost(1, 0, 2, 4);
        group.pass(GRACE);
        group.pass(GRACE);

        assertEquals(Set.of(3), group.ranks.get(1).failure().culprits());
        assertEquals(Set.of(3), first);
        assertEquals("[0, 2, 3, 4]", group.ranks.get(1).lostRanks().toString());
        assertThrows(
                UnsupportedOperationException.class,
                () -> group.ranks.get(1).lostRanks().clear());
    }

    @Test
    void aRankThatClosesASmallGroupSendsNoLaterDeaths() {
        group = new HandDriven(5);
        group.lost(1, 3);
        group.pass(GRACE);
        group.deliverAll();
        group.pass(LATER);
        group.lost(1, 0);
        group.pass(LATER);
        assertEquals(Set.of(0, 3), group.ranks.get(1).lostRanks());
        int sent = group.sent(Abort.class);
        group.ranks.get(1).leave(new BitSet(), GracefulExit.ExitCondition.ALL_HAVE_HEARD);
        group.deliverAll();

        assertEquals(sent, group.sent(Abort.class));
    }

    @Test
    void aForwardedDeathIsInTheLostRanksBeforeTheGroupFails() {
        group.stop(3);
        group.lost(1, 3);
        group.pass(GRACE);
        group.deliverAll(new Random(3), true);

        for (int survivor : new int[] {0, 1, 2, 4}) {
            assertStory(survivor, "3", "rank 3 is gone");
            assertEquals(Set.of(3), group.lostAtFailure.get(survivor), "rank " + survivor);
        }
    }

    @Test
    void allRanksOfAProcessAreLostBeforeTheGroupFails() {
        group.lost(1, 0, 4);
        group.pass(GRACE.dividedBy(2));
        group.lost(1, 2);
        group.pass(GRACE.dividedBy(2));
        group.deliverAll();

        assertEquals(Set.of(0, 2, 4), group.lostAtFailure.get(1));
        assertEquals(Set.of(0, 2, 4), group.lostAtFailure.get(3));
    }

    @Test
    void theGroupWaitsForProofOfADeathBeforeItFails() {
        FerroException ended = new FerroException(Code.PEER_LOST, Where.of("dp", 1), "its connection ended");
        group.ranks.get(1).cutOff(3, ended);
        group.pass(GRACE.multipliedBy(2));
        group.ranks.get(1).lost(3, ended);
        group.pass(GRACE);

        assertStory(1, "3", "its connection ended");
        assertEquals(Set.of(3), group.lostAtFailure.get(1));
    }

    @Test
    void aRankThatIsReportedDeadIsNotLostToItself() {
        group.lost(1, 3);
        group.pass(GRACE);
        group.deliverAll();

        assertEquals(Set.of(), group.ranks.get(3).lostRanks());
    }

    @Test
    void aSilentRankIsLostUntilItSendsAgain() {
        group.silent(1, 3);
        assertEquals(Set.of(3), group.ranks.get(1).lostRanks());
        group.lost(1, 0);
        group.pass(GRACE);
        group.ranks.get(1).found(3);
        group.ranks.get(1).found(0);

        assertEquals(Set.of(0), group.ranks.get(1).lostRanks());
    }

    @ParameterizedTest
    @EnumSource(names = {"PROTOCOL", "UNAUTHENTICATED", "RESOURCE", "RENDEZVOUS", "PARTITION"})
    void aLivingCulpritIsNotLostUntilItDies(Code code) {
        group.ranks.get(1).lost(3, new FerroException(code, Where.of("dp", 1), "rank 3 sent nonsense"));

        assertEquals(Set.of(3), group.ranks.get(1).failure().culprits());
        assertEquals(Set.of(), group.ranks.get(1).lostRanks());

        group.pass(LATER);
        group.lost(1, 3);
        group.pass(GRACE);
        assertEquals(Set.of(3), group.ranks.get(1).lostRanks());
    }

    @Test
    void aRankWhoseConnectionEndedIsNotLostUntilItsDeathIsProved() {
        FerroException ended = new FerroException(Code.PEER_LOST, Where.of("dp", 1), "its connection ended");
        group.ranks.get(1).cutOff(3, ended);
        group.pass(LATER);

        assertStory(1, "3", "its connection ended");
        assertEquals(Set.of(), group.ranks.get(1).lostRanks());

        group.ranks.get(1).lost(3, ended);
        group.pass(GRACE);
        assertStory(1, "3", "its connection ended");
        assertEquals(Set.of(3), group.ranks.get(1).lostRanks());
    }

    @Test
    void aChangedRecordFailsTheGroupAtOnceAndLosesNoRank() {
        group.ranks.get(1).broken(3, new FerroException(Code.PROTOCOL, Where.of("dp", 1), "record 7 was changed"));

        assertEquals(Code.PROTOCOL, group.ranks.get(1).failure().code());
        assertEquals(Set.of(3), group.ranks.get(1).failure().culprits());
        assertEquals(Set.of(), group.ranks.get(1).lostRanks());
    }

    @Test
    void aFailureInsideThisRankLosesNoRank() {
        group.ranks.get(1).lost(3, new FerroException(Code.ABORTED, Where.of("dp", 1), "rank 1 failed inside"));

        assertEquals(Set.of(1), group.ranks.get(1).failure().culprits());
        assertEquals(Set.of(), group.ranks.get(1).lostRanks());
    }
}
