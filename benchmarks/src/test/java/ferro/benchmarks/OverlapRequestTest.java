package ferro.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OverlapRequestTest {
    @Test
    void readsEveryOption() {
        OverlapRequest request = OverlapRequest.parse(
                List.of(("--computing busy --ratios 0.5,3 --buckets 64KiB,1MiB --layers 4 --layer-size 8KiB --rounds 40"
                                + " --json")
                        .split(" ")));

        OverlapRequest expected = new OverlapRequest(
                LayerComputation.CoreUse.BUSY, List.of(0.5, 3.0), List.of(65536L, 1L << 20), 4, 8192, 40, true);
        assertEquals(expected, request);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--computing hard | --computing hard: need idle or busy",
                "--ratios 1,x | --ratios 1,x: \"x\" is not a number, need for example 0.5,1,2",
                "--ratios 0 | --ratios 0: need numbers above 0, at most 100, found 0",
                "--ratios NaN | --ratios NaN: need numbers above 0, at most 100, found NaN",
                "--buckets 4x | --buckets 4x: \"4x\" is not a size",
                "--buckets 0 | need positive bucket sizes",
                "--layers 1 | --layers 1: need 2 to 1000",
                "--layers few | --layers few: need a whole number",
                "--layer-size 6 | --layer-size 6: need a multiple of 4 bytes, the size of one f32",
                "--rounds 29 | --rounds 29: need 30 or more",
                "--rounds | --rounds : need a whole number",
                "--sizes 4 | no option \"--sizes\" to bench overlap: use --computing"
            })
    void anInvalidWordIsNamed(String words, String message) {
        var failure =
                assertThrows(IllegalArgumentException.class, () -> OverlapRequest.parse(List.of(words.split(" "))));

        assertTrue(failure.getMessage().startsWith(message), failure.getMessage());
    }

    @Test
    void anOverlapMeasurementWithOneRankIsRefused() {
        var failure = assertThrows(
                IllegalArgumentException.class,
                () -> OverlapRequest.parse(List.of()).checkRanks(1));

        assertEquals("overlap needs 2 ranks or more, found 1", failure.getMessage());
    }
}
