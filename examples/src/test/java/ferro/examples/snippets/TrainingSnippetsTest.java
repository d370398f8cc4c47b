package ferro.examples.snippets;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.DataType;
import ferro.backend.simulated.SimulatedBackend;
import ferro.training.GradientBuckets;
import ferro.training.Join;
import ferro.training.Parameter;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class TrainingSnippetsTest {
    private static final int RANKS = 2;

    /** A model of a line through two points, with the operations that gradient descent on single samples needs. */
    private static final class Line {
        private final float[] slope = {0};
        private final float[] offset = {0};
        private int updates;

        private void backward(float[] sample, GradientBuckets buckets) {
            float error = slope[0] * sample[0] + offset[0] - sample[1];
            buckets.gradient(1).setFloat(0, 2 * error);
            buckets.ready(1);
            buckets.gradient(0).setFloat(0, 2 * error * sample[0]);
            buckets.ready(0);
        }

        private void update(GradientBuckets buckets) {
            slope[0] -= 0.125f * buckets.gradient(0).getFloat(0);
            offset[0] -= 0.125f * buckets.gradient(1).getFloat(0);
            updates++;
        }
    }

    @Test
    void gradientsAreAveragedWhileOthersAreComputed() {
        SimulatedBackend.run(RANKS, group -> {
            Line model = new Line();
            float[] batch = {group.rank(), 3};
            // @start region="buckets"
            List<Parameter> parameters =
                    List.of(Parameter.of("slope", DataType.FLOAT32, 1), Parameter.of("offset", DataType.FLOAT32, 1));
            try (GradientBuckets buckets =
                    GradientBuckets.builder(group).parameters(parameters).build()) {
                model.backward(batch, buckets); // for each parameter: writes gradient(i), calls ready(i)
                buckets.finish(); // each gradient is its average over all ranks
                model.update(buckets);
            }
            // @end
            assertArrayEquals(new float[] {0.375f, 0.75f}, new float[] {model.slope[0], model.offset[0]});
        });
    }

    @Test
    void ranksContinueUntilTheLastOneHasNoData() {
        float[][] slopes = new float[RANKS][];
        SimulatedBackend.run(RANKS, group -> {
            Line model = new Line();
            List<Parameter> parameters =
                    List.of(Parameter.of("slope", DataType.FLOAT32, 1), Parameter.of("offset", DataType.FLOAT32, 1));
            Iterator<float[]> batches = Stream.of(new float[] {1, 3}, new float[] {0, 1}, new float[] {2, 5})
                    .limit(1 + 2 * group.rank())
                    .iterator();
            try (GradientBuckets buckets =
                    GradientBuckets.builder(group).parameters(parameters).build()) {
                // @start region="join"
                Join<float[]> join = Join.over(buckets, batches);
                while (join.next()) {
                    join.withBatch(batch -> model.backward(batch, buckets)); // on ranks that have one
                    buckets.finish();
                    model.update(buckets); // on every rank
                }
                // @end
                assertEquals(3, model.updates);
            }
            slopes[group.rank()] = model.slope;
        });
        assertArrayEquals(slopes[0], slopes[1]);
    }
}
