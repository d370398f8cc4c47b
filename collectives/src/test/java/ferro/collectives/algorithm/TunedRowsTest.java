package ferro.collectives.algorithm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CollectiveKind;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class TunedRowsTest {
    private static final String TEXT = """
            # measured
            allReduce 4 1024 flat   # of shared memory
            allReduce 4 65536 recursiveDoubling
            allReduce 4 max ring
            broadcast 3 max linear
            """;

    @Test
    void theFirstLineThatFitsCounts() {
        AlgorithmChoice table = AlgorithmChoice.of("").with(TunedRows.parse(TEXT));

        assertEquals("recursiveDoubling", name(table, CollectiveKind.ALL_REDUCE, 4, 65536));
        assertEquals("ring", name(table, CollectiveKind.ALL_REDUCE, 4, 65537));
        assertEquals("linear", name(table, CollectiveKind.BROADCAST, 3, 1L << 30));
    }

    @Test
    void linesOfAlgorithmsThatAreNotToBeHadAreSkipped() {
        TunedRows rows = TunedRows.parse(TEXT);

        assertEquals(Optional.of("flat"), name(rows, 64, "flat", "halfInPlace"));
        assertEquals(Optional.of("recursiveDoubling"), name(rows, 64, "recursiveDoubling"));
        assertEquals(Optional.empty(), name(rows, 2048, "flat", "halfInPlace"));
    }

    private static Optional<String> name(TunedRows rows, long bytes, String... known) {
        List<Algorithm> algorithms = Stream.of(known)
                .map(name -> AlgorithmRegistry.of(CollectiveKind.ALL_REDUCE, name))
                .toList();
        return rows.algorithm(CollectiveKind.ALL_REDUCE, 4, bytes, algorithms).map(Algorithm::name);
    }

    @Test
    void otherWorldSizesAndKindsKeepTheBuiltInChoiceAndOverridesStandAbove() {
        TunedRows rows = TunedRows.parse(TEXT);

        assertEquals(
                name(AlgorithmChoice.of(""), CollectiveKind.ALL_REDUCE, 5, 64),
                name(AlgorithmChoice.of("").with(rows), CollectiveKind.ALL_REDUCE, 5, 64));
        assertEquals(
                "halvingDoubling",
                name(AlgorithmChoice.of("allReduce=halvingDoubling").with(rows), CollectiveKind.ALL_REDUCE, 4, 64));
    }

    @Test
    void commentsChangeNoHashAndLinesDo() {
        TunedRows rows = TunedRows.parse(TEXT);

        assertEquals(rows.hash(), TunedRows.parse(rows.text()).hash());
        assertNotEquals(rows.hash(), TunedRows.parse("broadcast 3 max linear").hash());
        assertSame(TunedRows.NONE, TunedRows.parse("# nothing"));
    }

    @Test
    void aLineThatMakesNoSenseAndAFileThatIsNotThereAreNamed() {
        for (String line : List.of(
                "allReduce 4 ring", "allReduce four max ring", "allReduce 4 64KiB ring", "allreduce 4 max ring")) {
            String message = assertThrows(IllegalArgumentException.class, () -> TunedRows.parse(line))
                    .getMessage();
            assertTrue(message.contains("\"" + line + "\""), message);
        }
        Optional<String> file = Optional.of("/nowhere/algorithms.table");
        String message = assertThrows(IllegalArgumentException.class, () -> TunedRows.read(file))
                .getMessage();
        assertTrue(message.contains(file.get()) && message.contains("--tune"), message);
    }

    private static String name(AlgorithmChoice choice, CollectiveKind kind, int worldSize, long bytes) {
        return choice.algorithm(Topology.FLAT, new AlgorithmChoice.Case(kind, worldSize, bytes))
                .name();
    }
}
