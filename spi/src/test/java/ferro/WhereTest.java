package ferro;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException.Where;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The location of a failure, and the ranks to blame. */
class WhereTest {
    private static final Where WHERE = Where.of("dp", 4).during("allReduce", 17);

    @Test
    void culpritsAreAscendingWithoutDuplicatesAndCannotBeChanged() {
        Set<Integer> culprits = WHERE.blaming(12, 3, 12).culprits();

        assertEquals(List.of(3, 12), List.copyOf(culprits));
        assertThrows(UnsupportedOperationException.class, () -> culprits.add(5));
    }

    @Test
    void laterChangesToTheGivenRanksDoNotChangeTheCulprits() {
        List<Integer> ranks = new ArrayList<>(List.of(7, 2));
        Where blaming = WHERE.blaming(ranks);
        ranks.add(9);

        assertEquals(Set.of(2, 7), blaming.culprits());
        assertEquals(blaming, WHERE.blaming(2, 7));
        assertNotEquals(blaming, WHERE);
    }

    @Test
    void otherValuesOfALocationKeepTheCulprits() {
        Where all = WHERE.blaming(3).during("barrier", 18).at(5, 64).after(Duration.ofMillis(7), Duration.ofMillis(2));

        assertEquals(Set.of(3), all.culprits());
        assertTrue(all.blaming().culprits().isEmpty());
        assertEquals(
                "Where[group=dp, rank=4, culprits=[3], operation=barrier, sequence=18, step=5, bytesMoved=64,"
                        + " elapsed=PT0.007S, paused=PT0.002S]",
                all.toString());
    }
}
