package ferro.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.ReduceOp;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SweepTest {
    @Test
    void readsEveryOption() {
        Sweep sweep = Sweep.parse(List.of(
                "reduce",
                "--sizes",
                "4,1KiB",
                "--type",
                "i32",
                "--op",
                "max",
                "--time",
                "1s",
                "--queued",
                "64",
                "--memory",
                "shared",
                "--json"));

        Sweep expected = new Sweep(
                BenchOperation.REDUCE,
                DataType.INT32,
                ReduceOp.MAX,
                List.of(4L, 1024L),
                Duration.ofSeconds(1),
                64,
                true,
                true);
        assertEquals(expected, sweep);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "alreduce | no collective \"alreduce\" to measure: use one of allreduce broadcast",
                "allreduce --sizes 4,,8 | --sizes 4,,8: \"\" is not a size",
                "allreduce --sizes 4x | --sizes 4x: \"4x\" is not a size",
                "allreduce --sizes 6 | --sizes 6: need a multiple of 4 bytes, the size of one f32",
                "allreduce --sizes 16GiB | --sizes 17179869184: at most 2147483639 elements of f32",
                "allreduce --type q7 | no element type \"q7\"",
                "allreduce --type u8 | --type u8: bench can measure [f32, f64, f16, bf16, i8, i16, i32, i64]",
                "allreduce --op xor | no reduction \"xor\"",
                "allreduce --op bor | --op bor: bench can measure [sum, product, min, max, avg, premulsum]",
                "allreduce --time soon | --time soon: need a time such as 250ms",
                "allreduce --queued few | --queued few: need a number of operations",
                "allreduce --queued 0 | --queued 0: need 1 to 1000",
                "allreduce --memory device | --memory device: bench can measure heap and shared",
                "barrier --queued 2 | --queued 2: barrier has no operation to queue",
                "allreduce --size 4 | no option \"--size\" to bench",
                "allreduce --op | --op needs a value after it",
                "--json | nothing to measure: name a collective first"
            })
    void anInvalidWordIsNamed(String words, String message) {
        var failure = assertThrows(IllegalArgumentException.class, () -> Sweep.parse(List.of(words.split(" "))));

        assertTrue(failure.getMessage().startsWith(message), failure.getMessage());
    }

    @Test
    void aPingPongOfOneRankIsRefused() {
        Sweep sweep = Sweep.parse(List.of("pingpong"));

        var failure = assertThrows(IllegalArgumentException.class, () -> sweep.checkRanks(1));

        assertEquals("pingpong needs 2 ranks or more, found 1", failure.getMessage());
    }

    @ParameterizedTest
    @CsvSource({"allreduce,40,3,10", "allgather,40,3,9", "allgather,4,3,3", "scatter,0,3,0", "broadcast,4,3,1"})
    void partsAreEqualAndNotEmptyUnlessTheSizeIsZero(String collective, long size, int ranks, int elements) {
        assertEquals(elements, Sweep.parse(List.of(collective)).elements(size, ranks));
    }
}
