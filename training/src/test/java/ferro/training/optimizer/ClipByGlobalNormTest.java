package ferro.training.optimizer;

import static ferro.harness.Says.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.HostTensor;
import ferro.harness.Medium;
import ferro.harness.Ranks;
import ferro.training.Gradients;
import java.util.Arrays;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ClipByGlobalNormTest {
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void theNormIsThatOfAllAveragedGradients(boolean sharded) {
        onRanks(3, sharded, run -> {
            run.compute(1, OptimizerRun::equalOnAllRanks);
            double sum = 0;
            for (int parameter = 0; parameter < OptimizerRun.PARAMETERS.size(); parameter++) {
                for (long i = 0; i < OptimizerRun.PARAMETERS.get(parameter).elementCount(); i++) {
                    sum += Math.pow(OptimizerRun.equalOnAllRanks(parameter, i, 0, 1), 2);
                }
            }
            assertEquals(Math.sqrt(sum), run.optimizer.clipByGlobalNorm(1e9), 1e-12 * Math.sqrt(sum));
            run.optimizer.skip();
        });
    }

    /** Steps of plain descent show the gradients. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void onlyLongerGradientsAreScaledToTheMaximumNorm(boolean sharded) {
        onRanks(2, sharded, run -> {
            run.compute(1, OptimizerRun::equalOnAllRanks);
            double norm = run.optimizer.clipByGlobalNorm(2.5);
            double[] before = all(run);
            run.optimizer.step();
            double[] moved = all(run);
            double sum = 0;
            for (int i = 0; i < moved.length; i++) {
                sum += Math.pow(moved[i] - before[i], 2);
            }
            assertEquals(2.5, Math.sqrt(sum), 1e-5);
            run.compute(2, OptimizerRun::equalOnAllRanks);
            double longer = run.optimizer.clipByGlobalNorm(2 * norm);
            assertTrue(longer > norm / 2 && longer < 2 * norm, () -> longer + " and " + norm);
            run.optimizer.step();
            assertEquals(
                    moved[0] - OptimizerRun.equalOnAllRanks(0, 0, 0, 2),
                    Gradients.values(run.optimizer.parameter(0))[0],
                    1e-5);
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void anInfiniteNormGivesZerosAndNanLikePyTorch(boolean sharded) {
        onRanks(3, sharded, run -> {
            run.compute(
                    1,
                    (parameter, element, rank, step) ->
                            parameter == 2 && element == 4000 ? Double.NEGATIVE_INFINITY : 3);
            double[] before = all(run);
            assertEquals(Double.POSITIVE_INFINITY, run.optimizer.clipByGlobalNorm(1));
            run.optimizer.step();
            double[] after = all(run);
            int changed = -1;
            for (int i = 0; i < after.length; i++) {
                if (after[i] != before[i]) {
                    assertEquals(-1, changed, "second change at " + i);
                    changed = i;
                }
            }
            assertTrue(Double.isNaN(Gradients.values(run.optimizer.parameter(2))[4000]));
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aNanNormMakesAllGradientsNan(boolean sharded) {
        onRanks(2, sharded, run -> {
            run.compute(1, (parameter, element, rank, step) -> parameter == 6 && rank == 1 ? Double.NaN : 3);
            assertEquals(Double.NaN, run.optimizer.clipByGlobalNorm(1));
            run.optimizer.step();
            assertTrue(Arrays.stream(all(run)).allMatch(Double::isNaN));
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aRefusedNormChangesNothing(boolean sharded) {
        onRanks(2, sharded, run -> {
            run.compute(1, (parameter, element, rank, step) -> parameter == 6 && rank == 1 ? Double.NaN : 3);
            double[] before = all(run);
            assertRefused(
                    ArithmeticException.class,
                    () -> run.optimizer.clipByGlobalNorm(1, true),
                    "the gradients of step 1 have the norm NaN");
            run.optimizer.skip();
            assertEquals(Arrays.toString(before), Arrays.toString(all(run)));
            run.compute(2, OptimizerRun::equalOnAllRanks);
            assertTrue(run.optimizer.clipByGlobalNorm(1, true) > 1);
            run.optimizer.step();
        });
    }

    @Test
    void theMaximumNormMustBePositive() {
        onRanks(1, true, run -> {
            for (double maxNorm : new double[] {0, -1, Double.NaN}) {
                assertRefused(
                        IllegalArgumentException.class,
                        () -> run.optimizer.clipByGlobalNorm(maxNorm),
                        "found " + maxNorm);
            }
        });
    }

    /** Medium parts of one block, of several, and of a part of one. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3, 4, 1023, 1024, 1025, 2 * 1024 + 3})
    void theSquaresOfABlockAreThoseOfItsElements(int count) {
        float[] values = new float[count];
        double sum = 0;
        for (int i = 0; i < count; i++) {
            values[i] = i % 17 - 3.5f;
            sum += values[i] * values[i];
        }
        BlockBuffer block = BlockBuffer.of(HostTensor.of(values));
        double squares = 0;
        for (int at = 0; at < count; at += BlockBuffer.LENGTH) {
            block.read(at, Math.min(BlockBuffer.LENGTH, count - at));
            squares += block.squares(Math.min(BlockBuffer.LENGTH, count - at));
        }
        assertEquals(sum, squares); // all sums are exact
    }

    private static void onRanks(int worldSize, boolean sharded, Consumer<OptimizerRun> test) {
        Ranks.each(Medium.SIMULATED, worldSize, group -> {
            try (OptimizerRun run =
                    new OptimizerRun(group, sharded, UpdateRule.sgd().withRate(1))) {
                test.accept(run);
            }
        });
    }

    private static double[] all(OptimizerRun run) {
        return run.parameters().stream().mapToDouble(Double::doubleValue).toArray();
    }
}
