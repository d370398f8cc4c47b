package ferro.control.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.GroupEvent;
import ferro.control.failure.ControlMessage;
import ferro.control.failure.ControlMessage.Abort;
import ferro.control.failure.Failure;
import ferro.control.failure.FailurePolicy;
import ferro.control.membership.Hashing;
import ferro.control.wire.RankSetFormat;
import ferro.spi.CallHeader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The failures on which ranks agree, with every message delivered by hand. */
class AgreedFailureTest {
    private static final Duration GRACE = Duration.ofMillis(10);
    private static final Duration WINDOW = Duration.ofMillis(50);
    private static final CallHeader SUM = CallHeader.of(9, 3, 77, "allReduce f32[4] sum by ring");
    private static final CallHeader MAX = CallHeader.of(9, 3, 78, "allReduce f32[4] max by ring");

    private static Failure late(int origin, String culprits) {
        return new Failure(Code.TIMED_OUT, origin, 7, RankSetFormat.numbers(culprits), "gave up on " + culprits, null);
    }

    private static void assertAgreed(HandDriven group, Code code, String culprits, int... survivors) {
        for (int rank : survivors) {
            Failure failure = group.ranks.get(rank).failure();
            assertEquals(code, failure.code(), "code on rank " + rank);
            assertEquals(RankSetFormat.numbers(culprits), failure.culprits(), "culprits on rank " + rank);
            assertEquals(1, group.failures[rank], "how often rank " + rank + " was told");
        }
    }

    @Test
    @DisplayName(
            "row 21: two causes seen at once are agreed on in every order of messages, some of them delivered twice")
    void ranksAgreeOnOneOfTwoCausesInEveryOrderOfMessages() {
        HandDriven.seeds(500, seed -> {
            HandDriven group = new HandDriven(4);
            group.ranks.get(1).fail(late(1, "3"));
            group.ranks.get(0).fail(new Failure(Code.ABORTED, 0, -1, Set.of(0), "rank 0 aborted the group", null));
            group.ranks.get(2).fail(late(2, "0,3"));
            group.deliverAll(new Random(seed), seed % 2 == 1);
            assertAgreed(group, Code.TIMED_OUT, "0,3", 0, 1, 2, 3);
        });
    }

    @Test
    @DisplayName("row 21: two ranks that abort before they hear of each other are both to blame, on all ranks")
    void twoRanksThatAbortAtOnceAreBothBlamedInEveryOrder() {
        for (int seed = 0; seed < 100; seed++) {
            HandDriven group = new HandDriven(4);
            for (int rank : new int[] {2, 1}) {
                group.ranks
                        .get(rank)
                        .fail(new Failure(Code.ABORTED, rank, -1, Set.of(rank), "rank " + rank + " aborted", null));
            }
            group.deliverAll(new Random(seed), seed % 2 == 1);
            assertAgreed(group, Code.ABORTED, "1,2", 0, 1, 2, 3);
        }
    }

    @Test
    @DisplayName("row 21: a rank that dies while it tells is made up for by those that it told")
    void otherRanksForwardTheFailureOfARankThatDiesWhileItSends() {
        HandDriven group = new HandDriven(4);
        group.ranks.get(1).fail(late(1, "3"));
        group.stop(1);
        group.drop(1, 0);
        group.drop(1, 3);
        group.deliverAll();
        assertAgreed(group, Code.TIMED_OUT, "3", 0, 2, 3);
    }

    @Test
    @DisplayName("a death that all of 32 ranks see is sent at most once by each rank to each other one, in one text")
    void eachRankSendsADeathOnceToEachOther() {
        HandDriven.seeds(5, seed -> {
            HandDriven group = new HandDriven(32);
            group.stop(7);
            IntStream.range(0, 32).filter(rank -> rank != 7).forEach(rank -> lost(group, rank, 7));
            group.pass(GRACE);
            group.deliverAll(new Random(seed), false);
            for (int rank = 0; rank < 32; rank++) {
                if (rank != 7) {
                    assertEquals("PEER_LOST of 7: rank 0 lost rank 7", group.story(rank));
                }
            }
            assertTrue(group.sent(Abort.class) <= 31 * 31, group.sent(Abort.class) + " messages");
        });
    }

    @Test
    @DisplayName("the text of a rank that dies while it sends a loss reaches all ranks")
    void theTextOfARankThatDiesWhileItSendsReachesAll() {
        HandDriven.seeds(20, seed -> {
            HandDriven group = new HandDriven(8);
            group.stop(7);
            IntStream.range(0, 7).forEach(rank -> lost(group, rank, 7));
            group.pass(GRACE);
            group.stop(0);
            // rank 0 ends before it has sent its message to these ranks
            IntStream.range(3, 7).forEach(rank -> group.drop(0, rank));
            group.deliverAll(new Random(seed), false);
            IntStream.range(1, 7).forEach(rank -> lost(group, rank, 0));
            group.pass(GRACE);
            group.deliverAll(new Random(seed), false);
            for (int rank = 1; rank < 7; rank++) {
                assertEquals("PEER_LOST of 7: rank 0 lost rank 7", group.story(rank), "rank " + rank);
            }
        });
    }

    @Test
    @DisplayName("ranks that end later because of a loss cause no more messages")
    void ranksThatEndBecauseOfALossCauseNoMessages() {
        HandDriven group = new HandDriven(8);
        group.stop(7);
        IntStream.range(0, 7).forEach(rank -> lost(group, rank, 7));
        group.pass(GRACE);
        group.deliverAll();
        int sent = group.sent(Abort.class);
        group.pass(Duration.ofMillis(500));
        group.stop(0);
        IntStream.range(1, 7).forEach(rank -> lost(group, rank, 0));
        group.pass(GRACE);
        group.deliverAll();
        assertEquals(sent, group.sent(Abort.class));
    }

    private static void lost(HandDriven group, int rank, int peer) {
        String text = "rank " + rank + " lost rank " + peer;
        group.ranks.get(rank).lost(peer, new FerroException(Code.PEER_LOST, Where.of("dp", rank), text));
    }

    @Test
    @DisplayName("a time-out with a lower sequence or rank is forwarded, as a rank may die while it sends")
    void aTimeoutWithALowerSequenceOrRankIsForwarded() {
        HandDriven group = new HandDriven(4);
        group.ranks.get(3).fail(late(3, "2"));
        group.deliverAll();
        group.ranks.get(1).control(0, new Abort(0, Set.of(), late(0, "2")).encoded());
        group.deliverAll();
        assertEquals(0, group.ranks.get(3).failure().origin());
        int sent = group.sent(Abort.class);
        group.ranks.get(1).control(2, new Abort(0, Set.of(), late(2, "2")).encoded());
        group.deliverAll();
        assertEquals(sent, group.sent(Abort.class), "a higher one is not");
    }

    @Test
    @DisplayName("row 19: ranks that exit because of a failure do not become its cause")
    void ranksThatExitBecauseOfAFailureDoNotChangeItsCause() {
        HandDriven.seeds(50, seed -> {
            HandDriven group = new HandDriven(4);
            IntStream.range(0, 3).forEach(rank -> group.lost(rank, 3));
            group.pass(GRACE);
            group.deliverAll(new Random(seed), false);
            group.lost(0, 1);
            group.lost(2, 1);
            group.pass(GRACE);
            group.deliverAll(new Random(seed), false);
            assertAgreed(group, Code.PEER_LOST, "3", 0, 2);
        });
    }

    @Test
    void theEndOfAConnectionIsExplainedByAnAbortThatIsReadLater() {
        HandDriven group = new HandDriven(3);
        group.ranks
                .get(1)
                .fail(new Failure(Code.ABORTED, 1, -1, Set.of(1), "rank 1 aborted the group: bad data", null));
        group.stop(1);
        group.lost(0, 1);
        group.lost(2, 1);
        assertNull(group.ranks.get(0).failure(), "before the inbox is read");
        group.deliverAll();
        group.pass(GRACE);
        group.deliverAll();
        assertAgreed(group, Code.ABORTED, "1", 0, 2);
    }

    @Test
    void twoRanksThatDieTogetherAreBothBlamed() {
        HandDriven group = new HandDriven(4);
        group.stop(2);
        group.stop(3);
        group.lost(0, 3);
        group.lost(1, 2);
        group.pass(GRACE);
        group.deliverAll();
        assertAgreed(group, Code.PEER_LOST, "2,3", 0, 1);
    }

    @Test
    void aFailureAfterTheWindowIsAConsequenceOfTheFirst() {
        HandDriven group = new HandDriven(2);
        group.ranks.get(0).fail(late(0, "1"));
        group.deliverAll();
        group.pass(WINDOW.plusMillis(1));
        group.lost(1, 0);
        group.ranks.get(0).fail(new Failure(Code.PROTOCOL, 0, -1, Set.of(1), "nonsense", null));
        group.pass(GRACE);
        group.deliverAll();
        assertAgreed(group, Code.TIMED_OUT, "1", 0, 1);
    }

    @Test
    void aRankThatAsksAfterTheFailureReceivesIt() {
        HandDriven group = new HandDriven(3);
        group.ranks.get(0).fail(late(0, "1"));
        group.drop(0, 2);
        group.ranks.get(2).inquiry().ask(SUM);
        group.deliverAll();
        assertAgreed(group, Code.TIMED_OUT, "1", 0, 1, 2);
    }

    @Test
    @DisplayName("row 13: of ranks that compared calls, the one that knew most of them says who is to blame")
    void theRankThatComparedMostCallsDecidesTheBlame() {
        HandDriven.seeds(100, seed -> {
            HandDriven group = new HandDriven(4);
            group.ranks.get(2).fail(different(2, 9, "1,2", 4));
            group.ranks.get(1).fail(different(1, 3, "1,2", 2));
            group.ranks.get(0).fail(different(0, 3, "1", 4));
            group.ranks.get(3).fail(different(3, 3, "0,1", 3));
            group.deliverAll(new Random(seed), seed % 2 == 1);
            assertAgreed(group, Code.MISMATCH, "1", 0, 1, 2, 3);
        });
    }

    private static Failure different(int origin, long sequence, String culprits, int known) {
        return new Failure(
                Code.MISMATCH, origin, sequence, RankSetFormat.numbers(culprits), "different calls", null, known);
    }

    @Test
    @DisplayName("an exception over a control message blames the rank that threw it, not the one that sent")
    void anExceptionOverAControlMessageBlamesTheRankThatThrew() {
        HandDriven group = new HandDriven(3);
        group.statuses[0] = null;
        group.ranks.get(1).inquiry().ask(null);
        group.deliverAll();
        assertAgreed(group, Code.ABORTED, "0", 0, 1, 2);
    }

    @Test
    @DisplayName("an abort that blames what is no rank of the group is the nonsense of its sender")
    void anAbortWithInvalidCulpritsBlamesItsSender() {
        for (String culprits : List.of("1,x", "3", "-1", "1,,2", "0123456789", "1".repeat(1000))) {
            HandDriven group = new HandDriven(3);
            group.ranks.get(0).control(2, blaming(culprits));
            group.deliverAll();
            assertAgreed(group, Code.PROTOCOL, "2", 0, 1, 2);
            String text = group.ranks.get(1).failure().text();
            assertTrue(text.contains("field culprits: found \"" + culprits.charAt(0)), text);
            assertEquals(List.of(2), group.events.get(0).get(0).ranks(), culprits);
        }
    }

    /** Returns an abort with the given text as list of culprits, which only another program sends. */
    private static ByteBuffer blaming(String culprits) {
        ByteBuffer sound = new Abort(0, Set.of(), new Failure(Code.PEER_LOST, 1, -1, Set.of(), "", null, 0)).encoded();
        // the message ends with two empty texts: the culprits and the description
        ByteBuffer message = ByteBuffer.allocate(sound.remaining() + culprits.length());
        message.put(sound.duplicate().limit(sound.limit() - 2 * Short.BYTES));
        message.putShort((short) culprits.length()).put(culprits.getBytes(StandardCharsets.US_ASCII));
        return message.putShort((short) 0).flip();
    }

    @Test
    void aRankThatSendsAnInvalidTurnOfNewGroupsIsBlamed() {
        for (long turn : new long[] {0, -5, 4097, Long.MAX_VALUE}) {
            HandDriven group = new HandDriven(2);
            group.ranks
                    .get(0)
                    .control(1, new ControlMessage.GroupProposal(1, turn, Hashing.of("[0, 1]"), "[0, 1]").encoded());
            assertEquals(Code.PROTOCOL, group.ranks.get(0).failure().code(), () -> "turn " + turn);
        }
    }

    @Test
    void theListenerReceivesTheFailureAndItsCulpritsOnce() {
        HandDriven group = new HandDriven(3);
        group.ranks.get(0).fail(late(0, "1"));
        group.ranks.get(2).fail(late(2, "0"));
        group.deliverAll();
        for (int rank = 0; rank < 3; rank++) {
            List<GroupEvent> heard = group.events.get(rank);
            assertEquals(1, heard.size(), heard.toString());
            assertEquals(GroupEvent.Kind.FAILED, heard.get(0).kind());
        }
        assertEquals(List.of(0), group.events.get(2).get(0).ranks());
    }

    @Test
    @DisplayName("row 13, row 15: a mismatch lists each known rank's call and blames the one that differs from most")
    void aMismatchListsEveryKnownCall() {
        HandDriven group = new HandDriven(4);
        List.of(0, 1, 3).forEach(rank -> group.ranks.get(rank).called(SUM.sequence(), SUM.call()));
        group.ranks.get(2).called(MAX.sequence(), MAX.call());
        group.ranks.get(0).inquiry().ask(SUM);
        group.deliverAll();
        group.pass(Duration.ofMillis(50));
        group.deliverAll();
        assertAgreed(group, Code.MISMATCH, "2", 0, 1, 2, 3);
        String text = group.ranks.get(3).failure().text();
        for (int rank = 0; rank < 4; rank++) {
            String call = "rank " + rank + " " + (rank == 2 ? MAX : SUM).text();
            assertTrue(text.contains(call), call + " in " + text);
        }
    }

    @Test
    void aMismatchIsFoundByAHeartbeatWithoutANextCall() {
        HandDriven group = new HandDriven(3);
        group.ranks.get(0).called(SUM.sequence(), SUM.call());
        group.ranks.get(2).called(MAX.sequence(), MAX.call());
        group.ranks.get(0).heartbeat();
        group.deliverAll();
        group.pass(Duration.ofMillis(50));
        group.deliverAll();
        assertAgreed(group, Code.MISMATCH, "0,2", 0, 1, 2);
    }

    @Test
    void textsAreCutAlikeOnAllRanks() {
        HandDriven group = new HandDriven(2);
        group.ranks.get(0).fail(new Failure(Code.ABORTED, 0, -1, Set.of(0), "größer ".repeat(1000), null));
        group.deliverAll();
        assertEquals(
                group.ranks.get(0).failure().text(),
                group.ranks.get(1).failure().text());
        assertEquals(1, group.failures[1]);
    }

    @Test
    void aReplacedFailurePolicyTakesEffect() {
        HandDriven group = new HandDriven(2, new FailurePolicy() {
            @Override
            public boolean floods(Failure failure, int peer) {
                return false;
            }
        });
        group.ranks.get(0).fail(late(0, "1"));
        group.deliverAll();
        assertNull(group.ranks.get(1).failure());
    }

    @Test
    void culpritsOfManyCausesAreMergedOnAllRanks() {
        HandDriven group = new HandDriven(5);
        List<Integer> order = new ArrayList<>(List.of(4, 2, 0, 3));
        order.forEach(rank -> group.ranks.get(rank).fail(late(rank, Integer.toString(rank))));
        group.deliverAll(new Random(5), true);
        assertAgreed(group, Code.TIMED_OUT, "0,2,3,4", 0, 1, 2, 3, 4);
        assertEquals(0, group.ranks.get(1).failure().origin());
    }
}
