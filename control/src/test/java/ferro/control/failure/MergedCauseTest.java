package ferro.control.failure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import ferro.FerroException.Code;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class MergedCauseTest {
    private static final Failure TOLD = new Failure(Code.PEER_LOST, 0, -1, Set.of(2), "rank 2 is gone", null);
    private static final Failure GUESS =
            new Failure(Code.PEER_LOST, 3, -1, Set.of(0), "the link to rank 0 ended", null);

    @Test
    void aGuessedCauseNeverReplacesAReceivedCause() {
        MergedCause first = new MergedCause(FailurePolicy.SHIPPED);
        first.told(TOLD, 5);
        assertNull(first.guessed(GUESS, 6));
        assertEquals(Set.of(2), first.cause().culprits());
    }

    @Test
    void aGuessedCauseCountsIfNoCauseIsReceived() {
        MergedCause first = new MergedCause(FailurePolicy.SHIPPED);
        assertSame(GUESS, first.guessed(GUESS, 6));
        assertEquals(Set.of(0), first.cause().culprits());
    }

    @Test
    void aLaterCauseDoesNotProlongTheTimeInWhichACauseCounts() {
        MergedCause first = new MergedCause(FailurePolicy.SHIPPED);
        first.told(TOLD, 0);
        first.told(GUESS, Duration.ofMillis(40).toNanos());
        Failure consequence = new Failure(Code.PEER_LOST, 3, -1, Set.of(1), "the link to rank 1 ended", null);

        assertNull(first.seen(consequence, Duration.ofMillis(80).toNanos()));
        assertEquals(Set.of(0, 2), first.cause().culprits());
    }

    @Test
    void oneOfTwoComparisonsCountsWithItsCulpritsAndText() {
        Failure three = compared(0, Set.of(0, 1, 2));
        Failure others = compared(3, Set.of(1));
        assertSame(three, three.merged(others));
        assertSame(three, others.merged(three));
    }

    @Test
    void theTextThatBlamesARankIsKeptOfTwoTimeouts() {
        Failure slow = new Failure(Code.TIMED_OUT, 0, 4, Set.of(), "no rank is singled out", null, 1);
        Failure late = new Failure(Code.TIMED_OUT, 1, 4, Set.of(2), "gave up on rank 2", null);
        assertEquals(late, slow.merged(late));
        assertSame(late, late.merged(slow));
        assertSame(slow, slow.merged(new Failure(Code.TIMED_OUT, 2, -1, Set.of(), "adopted", null)));
    }

    @Test
    void mergedMismatchesWithoutAFullComparisonBlameAllTheirCulprits() {
        Failure first = new Failure(Code.MISMATCH, 0, 4, Set.of(0, 1), "rank 1 differs", null);
        Failure other = new Failure(Code.MISMATCH, 2, 4, Set.of(1, 2), "rank 1 differs", null);
        assertEquals(Set.of(0, 1, 2), first.merged(other).culprits());
    }

    @Test
    @DisplayName("culprits that are cut to what a message takes are the same in every order of the causes")
    void culpritsThatAreCutAreTheSameInEveryOrderOfCauses() {
        Random random = new Random(48);
        for (int draw = 0; draw < 100; draw++) {
            List<Failure> causes = new ArrayList<>();
            for (int origin = 0; origin < 4; origin++) {
                int first = random.nextInt(9_000);
                Set<Integer> culprits = IntStream.range(0, 300)
                        .mapToObj(rank -> first + random.nextInt(1_000))
                        .collect(Collectors.toSet());
                causes.add(new Failure(Code.PARTITION, origin, -1, culprits, "seen by " + origin, null));
            }
            Failure merged = causes.stream().reduce(Failure::merged).orElseThrow();
            for (int order = 0; order < 10; order++) {
                Collections.shuffle(causes, random);
                Failure other = causes.stream().reduce(Failure::merged).orElseThrow();
                assertEquals(merged.culprits(), other.culprits());
                assertEquals(merged.text(), other.text());
            }
        }
    }

    private static Failure compared(int origin, Set<Integer> culprits) {
        return new Failure(Code.MISMATCH, origin, 1, culprits, "as rank " + origin + " knows", null, 3);
    }
}
