package ferro.training;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ferro.ReduceOp;
import ferro.training.TrainingRanks.Over;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class TrainingRanksTest {
    @ParameterizedTest
    @MethodSource("ferro.training.TrainingRanks#everywhere")
    void areAsManyAsAskedFor(Over medium, int worldSize) {
        List<float[]> sums = TrainingRanks.run(medium, worldSize, group -> {
            float[] values = {1, group.rank()};
            group.allReduce(values, ReduceOp.SUM);
            return values;
        });

        assertEquals(worldSize, sums.size());
        sums.forEach(sum -> assertArrayEquals(new float[] {worldSize, worldSize * (worldSize - 1) / 2}, sum));
    }

    @ParameterizedTest
    @EnumSource
    void throwWhatARankThrewAndKeepNoOtherWaiting(Over medium) {
        IllegalStateException planted = new IllegalStateException("planted");

        AssertionError failed = assertThrows(
                AssertionError.class,
                () -> TrainingRanks.run(medium, 3, group -> {
                    if (group.rank() == 1) {
                        throw planted;
                    }
                    group.barrier();
                    return null;
                }));

        assertSame(planted, failed.getCause());
    }

    @ParameterizedTest
    @EnumSource
    void sayWhatEachRankThrew(Over medium) {
        IllegalStateException planted = new IllegalStateException("planted");
        try (TrainingRanks ranks = TrainingRanks.over(medium, 2)) {
            List<Throwable> failures = ranks.failures(group -> {
                if (group.rank() == 1) {
                    throw planted;
                }
                return null;
            });

            assertNull(failures.get(0));
            assertSame(planted, failures.get(1));
        }
    }
}
