package ferro.integration;

import static ferro.harness.Says.assertRefused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ferro.ReduceOp;
import ferro.harness.Child;
import ferro.harness.Medium;
import ferro.harness.Ranks;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class RanksTest {
    @ParameterizedTest
    @MethodSource("ferro.harness.Ranks#everywhere")
    void theHarnessRunsTheRequestedNumberOfRanks(Medium medium, int worldSize) {
        List<float[]> sums = Ranks.run(medium, worldSize, group -> {
            float[] values = {1, group.rank()};
            group.allReduce(values, ReduceOp.SUM);
            return values;
        });

        assertEquals(worldSize, sums.size());
        sums.forEach(sum -> assertArrayEquals(new float[] {worldSize, worldSize * (worldSize - 1) / 2}, sum));
    }

    @ParameterizedTest
    @EnumSource
    void anExceptionOfARankIsThrownAndKeepsNoOtherWaiting(Medium medium) {
        IllegalStateException planted = new IllegalStateException("planted");

        AssertionError failed = assertThrows(
                AssertionError.class,
                () -> Ranks.run(medium, 3, group -> {
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
    void exceptionsOfAllRanksAreReported(Medium medium) {
        IllegalStateException planted = new IllegalStateException("planted");
        try (Ranks ranks = Ranks.over(medium, 2)) {
            List<Throwable> failures = ranks.failures(group -> {
                if (group.rank() == 1) {
                    throw planted;
                }
            });

            assertNull(failures.get(0));
            assertSame(planted, failures.get(1));
        }
    }

    @Test
    void aProcessWithAnotherExitCodeFailsWithItsOutput() {
        ProcessBuilder planted = new ProcessBuilder("sh", "-c", "echo printed; exit 3");

        assertRefused(AssertionError.class, () -> Child.run(0, planted), "exit code 3, not 0", "\nprinted\n");
    }
}
