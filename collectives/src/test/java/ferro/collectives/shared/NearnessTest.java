package ferro.collectives.shared;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.collectives.shared.Nearness.Said;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.Test;

class NearnessTest {
    @Test
    void ranksOfTwoHostsAreApartForOneReason() {
        Nearness two = new Nearness(List.of(on("a", 0, 1), on("a", 0, 1), on("b", 2, 3), on("b", 2, 3)));

        assertEquals(
                List.of(
                        "ranks 0-1, 2-3 share memory",
                        "ranks 0-2, 0-3, 1-2, 1-3 do not share memory: hosts are (a) and (b)"),
                two.lines());
        assertTrue(two.areNear(2, 3));
        assertFalse(two.areNear(1, 2));
        assertFalse(two.isComplete());
    }

    @Test
    void aRankThatOffersNoneIsNamedWithItsReason() {
        Nearness one = new Nearness(List.of(on("a", 0, 1), on("a", 0, 1), new Said("a", "no room", bits(2), "")));

        assertEquals(
                List.of("ranks 0-1 share memory", "ranks 0-2, 1-2 do not share memory: rank 2 offers none: no room"),
                one.lines());
    }

    @Test
    void aRankThatCouldNotReachAnotherSaysWhy() {
        Nearness one = new Nearness(List.of(on("a", 0, 1), new Said("a", "", bits(1), "permission denied")));

        assertEquals(List.of("ranks 0-1 do not share memory: rank 1 says: permission denied"), one.lines());
    }

    @Test
    void aGroupOfAThousandRanksOnManyHostsIsToldInFewLinesAndLittleMemory() {
        int ranks = 1024;
        int perHost = 8;
        List<Said> said = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
            BitSet reached = new BitSet();
            reached.set(rank / perHost * perHost, (rank / perHost + 1) * perHost);
            said.add(new Said("host " + rank / perHost, "", reached, ""));
        }
        Nearness many = new Nearness(said);

        List<String> lines = many.lines();

        assertEquals(18, lines.size(), lines::toString);
        assertEquals("ranks 0-1, 0-2, 0-3, 0-4 and 3580 more pairs share memory", lines.get(0));
        assertEquals("others do not share memory for 8112 more reasons", lines.get(17));
        assertTrue(many.areNear(1016, 1023));
    }

    @Test
    void whereThereIsNoneOneReasonStandsForAll() {
        assertEquals(
                List.of("ranks 0-1, 0-2, 1-2 do not share memory: switched off"),
                Nearness.none(3, "switched off").lines());
    }

    private static Said on(String host, int... reached) {
        return new Said(host, "", bits(reached), "");
    }

    private static BitSet bits(int... set) {
        BitSet bits = new BitSet();
        for (int bit : set) {
            bits.set(bit);
        }
        return bits;
    }
}
