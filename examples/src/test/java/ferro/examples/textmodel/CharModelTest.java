package ferro.examples.textmodel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class CharModelTest {
    private static final CharModel.Shape TINY = new CharModel.Shape(7, 3, 4, 9);
    private static final byte[] TEXT = {1, 4, 2, 6, 0, 3, 5, 1, 1, 2, 6, 4, 3};
    private static final int[] STARTS = {0, 2, 5, 9, 2};

    private final CharModel model = new CharModel(TINY, STARTS.length);

    /**
     * Moves every parameter a little in both directions. A small share of the slopes may differ, because some units are
     * near zero, where the slope changes.
     */
    @Test
    void theGradientIsTheSlopeOfTheLoss() {
        drawBold(3);
        loss();
        List<float[]> slopes =
                rows(model.gradients).stream().map(float[]::clone).toList();
        float reach = 1e-2f;
        int wrong = 0;
        int all = 0;
        for (int row = 0; row < slopes.size(); row++) {
            float[] values = rows(model.parameters).get(row);
            for (int i = 0; i < values.length; i++) {
                float middle = values[i];
                values[i] = middle + reach;
                double above = loss();
                values[i] = middle - reach;
                double below = loss();
                values[i] = middle;
                double slope = (above - below) / (2 * reach);
                wrong += Math.abs(slope - slopes.get(row)[i]) > 0.02 * Math.max(0.05, Math.abs(slope)) ? 1 : 0;
                all++;
            }
        }
        assertTrue(wrong <= all / 50, wrong + " of " + all + " slopes differ");
    }

    @Test
    void theFirstLossIsThatOfGuessing() {
        model.draw(3);

        assertEquals(Math.log(7), loss() / STARTS.length, 0.1);
    }

    @Test
    void theUsualModelHasAboutHalfAMillionParameters() {
        assertEquals(
                100 * 32 + 512 * 800 + 800 + 800 * 100 + 100, new CharModel.Shape(100, 16, 32, 800).parameterCount());
    }

    @Test
    void gradientsAreReadyFromTheLastToTheFirst() {
        drawBold(3);
        loss();
        List<float[]> expected =
                rows(model.gradients).stream().map(float[]::clone).toList();
        List<Integer> order = new ArrayList<>();

        model.lossAndGradients(TEXT, STARTS, 1, parameter -> {
            order.add(parameter);
            int from = rows(model.gradients.subList(0, parameter)).size();
            float[][] ready = model.gradients.get(parameter);
            for (int row = 0; row < ready.length; row++) {
                assertArrayEquals(expected.get(from + row), ready[row], "parameter " + parameter);
                Arrays.fill(ready[row], Float.NaN);
            }
        });

        assertEquals(List.of(4, 3, 2, 1, 0), order);
    }

    /** Adds random values: the first output weights are small on purpose, but some tests need weights that have an effect. */
    private void drawBold(long seed) {
        model.draw(seed);
        SplittableRandom random = new SplittableRandom(11);
        for (float[] row : rows(model.parameters)) {
            for (int i = 0; i < row.length; i++) {
                row[i] += (float) random.nextDouble(-0.5, 0.5);
            }
        }
    }

    private static List<float[]> rows(List<float[][]> matrices) {
        return matrices.stream().flatMap(Arrays::stream).toList();
    }

    private double loss() {
        return model.lossAndGradients(TEXT, STARTS, 1, ready -> {});
    }
}
