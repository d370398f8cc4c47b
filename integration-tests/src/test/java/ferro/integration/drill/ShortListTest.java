package ferro.integration.drill;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toSet;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.integration.Links;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What every build drills; docs/faults.md says of the rows of every drill test that they are shown over both media; one each is over TLS too. */
class ShortListTest {
    @Test
    void everyRowIsDrilledOverEveryMedium() {
        Stream<Cell> cells = Stream.of(
                        KilledRankDrillTest.killed(),
                        KilledRankDrillTest.killedBetween(),
                        KilledRankDrillTest.killedTwo(),
                        StoppedRankDrillTest.stopped(),
                        StoppedRankDrillTest.stoppedForAWhile(),
                        EndedRankDrillTest.exits(),
                        EndedRankDrillTest.aborts(),
                        StoreDrillTest.missing(),
                        StoreDrillTest.gone())
                .flatMap(list -> list);

        Map<Integer, Set<Links>> mediaByRow =
                cells.collect(groupingBy(cell -> cell.fault().row(), mapping(Cell::medium, toSet())));

        // row 5 is the other half of row 6
        assertEquals(Set.of(1, 2, 3, 4, 6, 19, 21, 22, 23, 28), mediaByRow.keySet());
        mediaByRow.forEach((row, media) -> assertTrue(media.containsAll(Links.measured()), "row " + row));
        Set<Integer> encrypted = new TreeSet<>();
        mediaByRow.forEach((row, media) -> encrypted.addAll(media.contains(Links.TLS) ? Set.of(row) : Set.of()));
        assertEquals(Set.of(1, 6, 19, 22), encrypted, "rows with a drill over TLS");
    }
}
