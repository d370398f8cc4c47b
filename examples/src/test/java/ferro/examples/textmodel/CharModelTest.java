package ferro.examples.textmodel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class CharModelTest {
    private static final Shape TINY = new Shape(7, 3, 4, 9);
    private static final byte[] TEXT = {1, 4, 2, 6, 0, 3, 5, 1, 1, 2, 6, 4, 3};
    private static final int[] STARTS = {0, 2, 5, 9, 2};

    /**
     * Moves every parameter a little in both directions. A small share of the slopes may differ, because some units are
     * near zero, where the slope changes.
     */
    @Test
    void gradientIsTheSlopeOfTheLoss() {
        float[] parameters = bold(TINY.initialParameters(3));
        CharModel model = new CharModel(TINY, STARTS.length);
        float[] gradient = gradientAt(model, parameters);
        float reach = 1e-2f;
        int wrong = 0;
        for (int i = 0; i < parameters.length; i++) {
            float middle = parameters[i];
            parameters[i] = middle + reach;
            double above = lossAt(model, parameters);
            parameters[i] = middle - reach;
            double below = lossAt(model, parameters);
            parameters[i] = middle;
            double slope = (above - below) / (2 * reach);
            wrong += Math.abs(slope - gradient[i]) > 0.02 * Math.max(0.05, Math.abs(slope)) ? 1 : 0;
        }
        assertTrue(wrong <= parameters.length / 50, wrong + " of " + parameters.length + " slopes differ");
    }

    @Test
    void firstLossIsThatOfGuessing() {
        CharModel model = new CharModel(TINY, STARTS.length);

        double loss = lossAt(model, TINY.initialParameters(3)) / STARTS.length;

        assertEquals(Math.log(7), loss, 0.1);
    }

    @Test
    void probabilitiesOfAllSymbolsAddUpToOne() {
        CharModel model = new CharModel(TINY, 1);
        model.load(bold(TINY.initialParameters(8)));
        double sum = 0;
        for (float probability : model.probabilities(new byte[] {2, 5, 1})) {
            sum += probability;
        }
        assertEquals(1, sum, 1e-5);
    }

    @Test
    void usualModelHasAboutHalfAMillionParameters() {
        int count = new Shape(100, 16, 32, 800).parameterCount();

        assertEquals(500_000, count, 10_000);
        assertEquals(100 * 32 + 512 * 800 + 800 + 800 * 100 + 100, count);
    }

    @Test
    void moreSamplesThanTheModelWasMadeForAreRefused() {
        CharModel model = new CharModel(TINY, 2);

        String message = assertThrows(
                        IllegalArgumentException.class,
                        () -> model.lossAndGradient(TEXT, STARTS, 1, new float[TINY.parameterCount()], ready -> {}))
                .getMessage();

        assertTrue(message.contains("2") && message.contains("5"), message);
    }

    @Test
    void gradientsAreReadyFromTheLastToTheFirstWhenTheirElementsAreThere() {
        CharModel model = new CharModel(TINY, STARTS.length);
        float[] expected = gradientAt(model, bold(TINY.initialParameters(3)));
        float[] gradient = new float[expected.length];
        List<Integer> order = new ArrayList<>();

        model.lossAndGradient(TEXT, STARTS, 1, gradient, parameter -> {
            order.add(parameter);
            int from = 0;
            for (int before = 0; before < parameter; before++) {
                from += (int) TINY.parameters().get(before).elementCount();
            }
            int to = from + (int) TINY.parameters().get(parameter).elementCount();
            assertTrue(Arrays.equals(expected, from, to, gradient, from, to), "parameter " + parameter);
        });

        assertEquals(List.of(4, 3, 2, 1, 0), order);
    }

    /**
     * Adds random values to the parameters. Initial output weights are small on purpose, but this test needs weights
     * that have an effect.
     */
    private static float[] bold(float[] parameters) {
        SplittableRandom random = new SplittableRandom(11);
        for (int i = 0; i < parameters.length; i++) {
            parameters[i] += (float) random.nextDouble(-0.5, 0.5);
        }
        return parameters;
    }

    private static float[] gradientAt(CharModel model, float[] parameters) {
        float[] gradient = new float[parameters.length];
        model.load(parameters);
        model.lossAndGradient(TEXT, STARTS, 1, gradient, ready -> {});
        return gradient;
    }

    private static double lossAt(CharModel model, float[] parameters) {
        model.load(parameters);
        return model.lossAndGradient(TEXT, STARTS, 1, new float[parameters.length], ready -> {});
    }
}
