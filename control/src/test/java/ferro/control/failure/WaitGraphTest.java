package ferro.control.failure;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Who keeps the others waiting. */
class WaitGraphTest {
    private final Map<Integer, BitSet> waits = new HashMap<>();
    private final List<Integer> asked = new ArrayList<>();
    private final BitSet any = new BitSet();
    private final WaitGraph graph = new WaitGraph(
            rank -> {
                asked.add(rank);
                return waits.getOrDefault(rank, new BitSet());
            },
            any::get);

    @Test
    void aChainEndsAtTheRankThatWaitsForNone() {
        waits(5, 3);
        waits(3, 8);

        assertEquals(ranks(3, 5, 8), graph.reachedFrom(ranks(5)));
        assertEquals(ranks(8), graph.ends(ranks(5)));
        assertEquals(ranks(), graph.cycles(ranks(5)));
    }

    @Test
    void chainsThatPartHaveAnEndEach() {
        waits(1, 2, 3);
        waits(3, 4, 6);
        waits(6, 7);
        waits(9, 7);

        assertEquals(ranks(2, 4, 7), graph.ends(ranks(1)));
        assertEquals(ranks(7), graph.ends(ranks(9)));
        assertEquals(ranks(2, 4, 7), graph.ends(ranks(1, 9)));
    }

    @Test
    void ranksInACycleAreOnItAndThoseThatWaitForItAreNot() {
        waits(9, 1);
        waits(1, 2);
        waits(2, 3);
        waits(3, 1);

        assertEquals(ranks(), graph.ends(ranks(9)));
        assertEquals(ranks(1, 2, 3), graph.cycles(ranks(9)));
    }

    @Test
    void aCycleWithAWayOutHasAnEnd() {
        waits(1, 2);
        waits(2, 1, 6);

        assertEquals(ranks(6), graph.ends(ranks(1)));
        assertEquals(ranks(1, 2), graph.cycles(ranks(1)));
    }

    @Test
    void aRankBetweenTwoCyclesIsOnNone() {
        waits(1, 2);
        waits(2, 1, 3);
        waits(3, 4);
        waits(4, 5);
        waits(5, 4);

        assertEquals(ranks(1, 2, 4, 5), graph.cycles(ranks(1)));
        assertEquals(ranks(4, 5), graph.cycles(ranks(3)));
    }

    @Test
    void cyclesWithARankInCommonAreOne() {
        waits(1, 2, 3);
        waits(2, 1);
        waits(3, 4);
        waits(4, 1);

        assertEquals(ranks(1, 2, 3, 4), graph.cycles(ranks(2)));
    }

    @Test
    void aRankThatWaitsForItselfIsACycleAndNoEnd() {
        waits(4, 4);

        assertEquals(ranks(), graph.ends(ranks(4)));
        assertEquals(ranks(4), graph.cycles(ranks(4)));
    }

    @Test
    void aRankOfWhichNothingIsKnownEndsItsChain() {
        waits(0, 70_000);

        assertEquals(ranks(70_000), graph.ends(ranks(0)));
        assertEquals(ranks(17), graph.ends(ranks(17)));
        assertEquals(ranks(), graph.ends(ranks()));
    }

    @Test
    void onlyRanksThatAreReachedAreAskedAndNothingThatIsGivenChanges() {
        waits(1, 2);
        waits(2, 1);
        waits(3, 1);
        BitSet first = ranks(1);

        graph.ends(first);
        graph.cycles(first);

        assertEquals(false, asked.contains(3), asked::toString);
        assertEquals(ranks(1), first);
        assertEquals(ranks(2), waits.get(1));
        assertEquals(ranks(1), waits.get(2));
    }

    @Test
    void aRankThatWaitsForAnyIsStuckOnlyIfEachOfThemIs() {
        waitsForAny(1, 2, 3);
        waitsForAny(2, 1, 3);
        assertEquals(ranks(), graph.stuck(ranks(1)));

        waits(3, 1);
        assertEquals(ranks(1, 2, 3), graph.stuck(ranks(1)));

        waitsForAny(3, 1, 4);
        assertEquals(ranks(), graph.stuck(ranks(1)));
    }

    @Test
    void aRankThatWaitsForAllIsStuckIfOneOfThemIs() {
        waits(1, 2, 5);
        waits(2, 3);
        waits(3, 2);
        waitsForAny(4, 1, 5);

        assertEquals(ranks(1, 2, 3), graph.stuck(ranks(1)));
        assertEquals(ranks(1, 2, 3), graph.stuck(ranks(4)));
        assertEquals(ranks(), graph.stuck(ranks(5)));
    }

    private void waitsForAny(int rank, int... awaited) {
        any.set(rank);
        waits(rank, awaited);
    }

    private void waits(int rank, int... awaited) {
        waits.put(rank, ranks(awaited));
    }

    private static BitSet ranks(int... ranks) {
        BitSet set = new BitSet();
        IntStream.of(ranks).forEach(set::set);
        return set;
    }
}
