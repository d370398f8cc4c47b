package ferro.integration.drill;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toSet;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.integration.Links;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.provider.MethodSource;

/** Checks what every long build drills. docs/faults.md promises each row over both media, and some rows over TLS. */
class ShortListTest {
    private static final Path RESULTS = Path.of("../docs/faults/results.csv");
    private static final List<String> DRILLS = List.of(
            "drill.KilledRankDrillTest",
            "drill.StoppedRankDrillTest",
            "drill.EndedRankDrillTest",
            "drill.StoreDrillTest",
            "NetworkFaultsTest");

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

    @Test
    void keptResultsCoverAllCellsOfTheLists() throws Exception {
        Map<String, Integer> cases = casesByTest();
        Map<String, Integer> kept = new TreeMap<>();
        for (String line : Files.readAllLines(RESULTS)) {
            String[] cells = line.split(",");
            if (cases.containsKey(cells[0])) {
                kept.put(
                        cells[0], Integer.parseInt(cells[1]) + Integer.parseInt(cells[2]) + Integer.parseInt(cells[3]));
            }
        }

        assertEquals(cases, kept, "cases in docs/faults/results.csv; FaultsPageTest has the command that writes it");
    }

    private static Map<String, Integer> casesByTest() throws ReflectiveOperationException {
        Map<String, Integer> cases = new TreeMap<>();
        for (String name : DRILLS) {
            Class<?> type = Class.forName("ferro.integration." + name);
            for (Method test : type.getDeclaredMethods()) {
                MethodSource source = test.getAnnotation(MethodSource.class);
                if (source != null) {
                    Method list = type.getDeclaredMethod(source.value()[0]);
                    // that of networks is in another package
                    list.setAccessible(true);
                    cases.put(
                            type.getSimpleName() + "#" + test.getName(), (int) ((Stream<?>) list.invoke(null)).count());
                }
            }
        }
        return cases;
    }
}
