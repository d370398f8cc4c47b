package ferro.examples.snippets;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.DataType;
import ferro.HostTensor;
import ferro.backend.simulated.SimulatedBackend;
import ferro.group.ProcessGroup;
import ferro.training.GradientBuckets;
import ferro.training.Parameter;
import ferro.training.optimizer.ParameterUpdater;
import ferro.training.optimizer.ShardedOptimizer;
import ferro.training.optimizer.UpdateRule;
import java.util.List;
import org.junit.jupiter.api.Test;

class OptimizerSnippetsTest {
    private static final int STEPS = 300;

    /** A model of a line. The samples of one rank are points on y = 2 x + 1. */
    private record Line(int rank) {
        List<Parameter> parameters() {
            return List.of(Parameter.of("slope", DataType.FLOAT64, 1), Parameter.of("offset", DataType.FLOAT64, 1));
        }

        void initialize(ShardedOptimizer optimizer) {
            optimizer.parameter(0).setDouble(0, 0.5);
        }

        void backward(int step, ShardedOptimizer optimizer, GradientBuckets buckets) {
            double x = (step % 5 + rank) / 4.0;
            double error = optimizer.parameter(0).getDouble(0) * x
                    + optimizer.parameter(1).getDouble(0)
                    - (2 * x + 1);
            buckets.gradient(1).setDouble(0, 2 * error);
            buckets.ready(1);
            buckets.gradient(0).setDouble(0, 2 * error * x);
            buckets.ready(0);
        }
    }

    @Test
    void eachRankUpdatesItsShare() {
        List<double[]> lines = SimulatedBackend.runAll(2, OptimizerSnippetsTest::trained);
        assertArrayEquals(lines.get(0), lines.get(1));
        assertArrayEquals(new double[] {2, 1}, lines.get(0), 0.05);
    }

    private static double[] trained(ProcessGroup group) {
        Line model = new Line(group.rank());
        // @start region="sharded"
        try (GradientBuckets buckets = GradientBuckets.builder(group)
                        .parameters(model.parameters())
                        .sharded(true)
                        .build();
                ShardedOptimizer optimizer = ShardedOptimizer.over(buckets, UpdateRule.adamW())) {
            model.initialize(optimizer); // writes parameter(i), the same on all ranks
            for (int step = 0; step < STEPS; step++) {
                model.backward(step, optimizer, buckets); // reads parameter(i), writes gradient(i), calls ready(i)
                optimizer.clipByGlobalNorm(1.0);
                optimizer.rate(0.1 * (1 - step / (double) STEPS));
                optimizer.step();
            }
            return new double[] {
                optimizer.parameter(0).getDouble(0), optimizer.parameter(1).getDouble(0)
            };
        }
        // @end
    }

    @Test
    void aRuleUpdatesArrays() {
        // @start region="flat"
        float[] parameters = {1, 2, 3};
        float[] gradients = {4, 0, -4};
        float[] momentum = new float[3];
        ParameterUpdater updater = ParameterUpdater.of(
                UpdateRule.sgd().withMomentum(0.5),
                HostTensor.of(parameters),
                HostTensor.of(gradients),
                List.of(HostTensor.of(momentum)));
        updater.update(0, 3, 1, 0.25); // all elements, in step 1, at a rate of 0.25
        // @end
        assertArrayEquals(new float[] {0, 2, 4}, parameters);
        assertEquals(-4, momentum[2]);
    }
}
