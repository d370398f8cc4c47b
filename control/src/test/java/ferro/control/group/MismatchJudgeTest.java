package ferro.control.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import ferro.FerroException.Code;
import ferro.control.failure.Failure;
import ferro.control.wire.RankSetFormat;
import ferro.spi.CallHeader;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The ranks that are blamed for different calls, with every message delivered by hand. */
class MismatchJudgeTest {
    private static final Duration TICK = Duration.ofMillis(1);
    private static final int SETTLED_MILLIS = 45;

    private static CallHeader broadcast(long sequence, int root) {
        return CallHeader.of(9, sequence, 77 + root, "broadcast f32[4] root " + root + " by binomial");
    }

    private static void call(HandDriven group, CallHeader call, int... ranks) {
        for (int rank : ranks) {
            group.ranks.get(rank).called(call.sequence(), call.call());
        }
    }

    private static void run(HandDriven group, int millis) {
        for (int tick = 0; tick < millis; tick++) {
            group.pass(TICK);
            group.deliverAll();
        }
    }

    private static String story(HandDriven group, int rank) {
        Failure failure = group.ranks.get(rank).failure();
        assertNotNull(failure, "rank " + rank + " knows of nothing");
        assertEquals(Code.MISMATCH, failure.code(), failure.text());
        return RankSetFormat.list(failure.culprits()) + ": " + failure.text();
    }

    private static void assertStory(HandDriven group, String culprits, String calls) {
        boolean isOfRoots = !calls.contains("the same call");
        for (int rank = 0; rank < group.ranks.size(); rank++) {
            assertEquals(
                    culprits
                            + (isOfRoots ? ": roots differ at " : ": ranks made different calls at ")
                            + calls
                            + (isOfRoots
                                    ? ": all ranks must name the same root"
                                    : ": all ranks must make the same calls in the same order"),
                    story(group, rank),
                    "on rank " + rank);
        }
    }

    @Test
    @DisplayName("a rank that comes to the call while the others are asked is counted with them")
    void aRankThatCallsDuringTheComparisonIsCounted() {
        HandDriven group = new HandDriven(3);
        call(group, broadcast(2, 0), 0);
        call(group, broadcast(2, 1), 2);
        group.ranks.get(2).inquiry().ask(broadcast(2, 1));
        group.deliverAll();
        run(group, 25);
        call(group, broadcast(2, 0), 1);
        run(group, SETTLED_MILLIS);

        assertStory(group, "2", "seq 2: " + calls(0, 0, 1));
    }

    @Test
    @DisplayName("without the rank that never comes it is settled within 50 ms")
    void aRankThatNeverCallsDelaysTheBlameByAtMost50Millis() {
        HandDriven group = new HandDriven(4);
        call(group, broadcast(2, 0), 0, 3);
        call(group, broadcast(2, 1), 2);
        group.ranks.get(0).inquiry().ask(broadcast(2, 0));
        group.deliverAll();
        run(group, 35);
        assertNull(group.ranks.get(0).failure(), "rank 1 may still come");
        run(group, SETTLED_MILLIS - 35);

        assertStory(
                group,
                "2",
                "seq 2: rank 0 broadcast f32[4] root 0 by binomial, rank 2 broadcast f32[4] root 1 by binomial,"
                        + " rank 3 broadcast f32[4] root 0 by binomial");
    }

    @Test
    @DisplayName("a rank that stood still while the others agreed changes nothing, whatever it reads first")
    void aRankThatWasPausedDoesNotChangeTheAgreedBlame() {
        HandDriven.seeds(100, seed -> {
            HandDriven group = new HandDriven(3);
            call(group, broadcast(2, 0), 0, 1);
            call(group, broadcast(2, 1), 2);
            group.standStill(1, true);
            group.ranks.get(0).inquiry().ask(broadcast(2, 0));
            run(group, SETTLED_MILLIS + 60);
            assertEquals(Set.of(0, 2), group.ranks.get(0).failure().culprits());

            group.standStill(1, false);
            group.deliverAll(new Random(seed), false);
            run(group, SETTLED_MILLIS);

            assertStory(
                    group,
                    "0,2",
                    "seq 2: rank 0 broadcast f32[4] root 0 by binomial, rank 2 broadcast f32[4] root 1 by binomial");
        });
    }

    @Test
    @DisplayName("once all have said what they called it is settled at once")
    void theBlameIsDecidedAtOnceIfAllCallsAreKnown() {
        HandDriven.seeds(100, seed -> {
            HandDriven group = new HandDriven(4);
            call(group, broadcast(2, 0), 0, 1, 3);
            call(group, broadcast(2, 1), 2);
            group.ranks.get(seed % 4).inquiry().ask(broadcast(2, seed % 4 == 2 ? 1 : 0));
            group.deliverAll(new Random(seed), true);
            for (int rank = 0; rank < 4; rank++) {
                assertEquals(Set.of(2), group.ranks.get(rank).failure().culprits());
            }
        });
    }

    @Test
    @DisplayName("of two places where ranks differ the earlier one counts, whichever is seen first")
    void theMismatchWithTheLowerSequenceCounts() {
        HandDriven group = new HandDriven(4);
        call(group, broadcast(2, 0), 0, 1);
        call(group, broadcast(2, 1), 2);
        call(group, broadcast(3, 1), 0, 1);
        call(group, broadcast(3, 0), 2);
        group.ranks.get(2).inquiry().ask(broadcast(3, 0));
        group.deliverAll();
        group.stop(1);
        group.ranks.get(2).inquiry().ask(broadcast(2, 1));
        group.deliverAll();
        run(group, SETTLED_MILLIS);

        for (int rank : List.of(0, 2, 3)) {
            assertEquals(
                    "0,2: roots differ at seq 2: rank 0 broadcast f32[4] root 0 by binomial, rank 2 broadcast f32[4]"
                            + " root 1 by binomial: all ranks must name the same root",
                    story(group, rank),
                    "rank 1 has said only what it called next");
        }
    }

    @Test
    @DisplayName("a rank that is late to say what it sent is waited for, and those that agree are not blamed")
    void theBlameWaitsForALateReportOfASentCall() {
        HandDriven group = new HandDriven(4);
        call(group, broadcast(2, 0), 0, 2, 3);
        call(group, broadcast(2, 1), 1);
        group.standStill(1, true);
        group.ranks.get(0).mismatched(1, broadcast(2, 0), CallHeader.of(9, 2, 78, ""));
        run(group, 5 * SETTLED_MILLIS);
        assertNull(group.ranks.get(0).failure(), "rank 1 is there, as it has sent something");
        group.standStill(1, false);
        run(group, SETTLED_MILLIS);

        assertStory(group, "1", "seq 2: " + calls(0, 1, 0, 0));
    }

    @Test
    @DisplayName("what a rank sent that tells nothing any more is said in words within a second")
    void aCallThatItsRankNeverReportsIsDescribedInWords() {
        HandDriven group = new HandDriven(3);
        call(group, broadcast(2, 0), 0);
        group.stop(1);
        group.ranks.get(0).mismatched(1, broadcast(2, 0), CallHeader.of(9, 2, 99, ""));
        run(group, 1000);

        assertEquals(
                "0,1: ranks made different calls at seq 2: rank 0 broadcast f32[4] root 0 by binomial, rank 1 a"
                        + " different call, which it has not reported: all ranks must make the same calls in the same order",
                story(group, 0));
        assertEquals(story(group, 0), story(group, 2));
    }

    @Test
    @DisplayName("parts of other lengths, which only two ranks know of, are said in words, and in time")
    void aDifferenceThatOnlyTwoRanksCanSeeIsDescribedInWords() {
        HandDriven group = new HandDriven(2);
        CallHeader common = CallHeader.of(9, 2, 77, "allToAll f32 in parts of different lengths by pairwise");
        call(group, common, 0, 1);
        CallHeader pair = CallHeader.of(9, 2, 78, common.text() + ", 4 elements from rank 1");
        group.ranks.get(0).mismatched(1, pair, CallHeader.of(9, 2, 79, ""));
        group.deliverAll();
        run(group, SETTLED_MILLIS);

        assertStory(
                group,
                "0,1",
                "seq 2: rank 0 allToAll f32 in parts of different lengths by pairwise, 4 elements from rank 1, rank 1 the same"
                        + " call, but with another number of elements for rank 0");
    }

    @Test
    @DisplayName("a call that a rank makes as another one in its order is said in words")
    void theSameCallAtAnotherSequenceIsDescribedInWords() {
        HandDriven group = new HandDriven(2);
        call(group, broadcast(2, 0), 0);
        group.ranks.get(0).mismatched(1, broadcast(2, 0), broadcast(5, 0));
        group.deliverAll();
        run(group, SETTLED_MILLIS);

        assertStory(
                group,
                "0,1",
                "seq 2: rank 0 broadcast f32[4] root 0 by binomial, rank 1 the same call, but as its seq 5");
    }

    @Test
    void aFailedRankThatStillAnswersIsCounted() {
        HandDriven group = new HandDriven(3);
        call(group, broadcast(2, 0), 0, 1);
        call(group, broadcast(2, 1), 2);
        group.ranks.get(1).fail(new Failure(Code.ABORTED, 1, -1, Set.of(1), "rank 1 aborted the group: enough", null));
        group.drop(1, 0);
        group.drop(1, 2);
        group.ranks.get(0).inquiry().ask(broadcast(2, 0));
        group.deliverAll();
        run(group, SETTLED_MILLIS);

        for (int rank : List.of(0, 1, 2)) {
            assertEquals(Set.of(2), group.ranks.get(rank).failure().culprits());
        }
    }

    @Test
    @DisplayName(
            "however three to eight ranks divide, those that differ from most are blamed, or all if there are no most")
    void ranksThatDifferFromMoreThanHalfAreBlamedInEveryDivision() {
        HandDriven.seeds(300, seed -> {
            Random random = new Random(seed);
            int worldSize = 3 + seed % 6;
            int[] roots = random.ints(worldSize, 0, 3).toArray();
            if (IntStream.of(roots).distinct().count() == 1) {
                roots[worldSize - 1] = 3;
            }
            HandDriven group = new HandDriven(worldSize);
            for (int rank = 0; rank < worldSize; rank++) {
                call(group, broadcast(2, roots[rank]), rank);
            }
            int asks = random.nextInt(worldSize);
            group.ranks.get(asks).inquiry().ask(broadcast(2, roots[asks]));
            group.deliverAll(random, true);
            run(group, SETTLED_MILLIS);

            assertStory(group, culprits(roots), "seq 2: " + calls(roots));
        });
    }

    private static String culprits(int... roots) {
        IntPredicate isMost =
                root -> 2 * IntStream.of(roots).filter(other -> other == root).count() > roots.length;
        boolean hasMost = IntStream.of(roots).anyMatch(isMost);
        return IntStream.range(0, roots.length)
                .filter(rank -> !hasMost || !isMost.test(roots[rank]))
                .mapToObj(Integer::toString)
                .collect(Collectors.joining(","));
    }

    private static String calls(int... roots) {
        return IntStream.range(0, roots.length)
                .mapToObj(
                        rank -> "rank " + rank + " " + broadcast(2, roots[rank]).text())
                .collect(Collectors.joining(", "));
    }
}
