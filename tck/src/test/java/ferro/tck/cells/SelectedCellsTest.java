package ferro.tck.cells;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CollectiveKind;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SelectedCellsTest {
    @ParameterizedTest(name = "{0} ranks")
    @ValueSource(ints = {1, 2, 3, 4, 5, 7, 8})
    void theSelectionHasEachPairOfImportantParameters(int worldSize) {
        for (CollectiveKind kind : Cell.KINDS) {
            List<Cell> all = Cell.of(kind, worldSize);
            List<Cell> selected = Cell.selected(kind, worldSize);

            assertTrue(new HashSet<>(plain(all)).containsAll(plain(selected)), () -> kind + ": " + selected);
            assertHas(kind + ", type and length", all, selected, cell -> List.of(cell.type(), cell.length()));
            assertHas(kind + ", type and op", all, selected, cell -> List.of(cell.type(), "" + cell.op()));
            assertHas(kind + ", op and length", all, selected, cell -> List.of("" + cell.op(), cell.length()));
            assertHas(kind + ", op and memory", all, selected, cell -> List.of("" + cell.op(), cell.inPlace()));
            assertHas(kind + ", length and memory", all, selected, cell -> List.of(cell.length(), cell.inPlace()));
            assertHas(kind + ", root", all, selected, cell -> List.of(cell.root()));
        }
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"allReduce", "reduce", "reduceScatter", "scan", "exclusiveScan"})
    void theSelectionOfAReductionIsAQuarterOfTheCells(String kind) {
        List<Cell> all = Cell.of(CollectiveKind.parse(kind), 8);
        List<Cell> selected = Cell.selected(CollectiveKind.parse(kind), 8);

        assertTrue(selected.size() * 4 <= all.size(), () -> selected.size() + " of " + all.size());
    }

    /** Returns the cells with root 0, because the selection combines other cells with a root than all cells do. */
    private static List<Cell> plain(List<Cell> cells) {
        return cells.stream()
                .map(cell -> new Cell(cell.kind(), cell.type(), cell.op(), cell.length(), 0, cell.inPlace()))
                .toList();
    }

    private static void assertHas(String what, List<Cell> all, List<Cell> selected, Function<Cell, List<Object>> of) {
        assertEquals(distinct(all, of), distinct(selected, of), what);
    }

    private static Set<List<Object>> distinct(List<Cell> cells, Function<Cell, List<Object>> of) {
        return cells.stream().map(of).collect(Collectors.toSet());
    }
}
