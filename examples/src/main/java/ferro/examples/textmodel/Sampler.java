package ferro.examples.textmodel;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * A generator of text. The generator predicts the next symbol, draws a symbol by its probability, and continues after
 * this symbol.
 */
final class Sampler {
    /**
     * Exponent of the probabilities. With an exponent above 1, likely symbols are drawn more often, which makes the
     * text easier to read.
     */
    private static final double SHARPNESS = 1.3;

    private final CharModel model;
    private final Vocabulary vocabulary;

    Sampler(CharModel model, Vocabulary vocabulary) {
        this.model = model;
        this.vocabulary = vocabulary;
    }

    /**
     * Generates text.
     *
     * @param beginning  symbols to continue, as many as the model's context; not part of the result
     * @param characters number of characters
     * @param seed       seed of the random numbers
     * @return text
     */
    String generate(byte[] beginning, int characters, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        byte[] context = beginning.clone();
        StringBuilder text = new StringBuilder(characters);
        for (int i = 0; i < characters; i++) {
            int symbol = draw(model.probabilities(context), random);
            text.append(vocabulary.character(symbol));
            System.arraycopy(context, 1, context, 0, context.length - 1);
            context[context.length - 1] = (byte) symbol;
        }
        return text.toString();
    }

    private static int draw(float[] probabilities, SplittableRandom random) {
        double[] weights = new double[probabilities.length];
        Arrays.setAll(weights, symbol -> Math.pow(probabilities[symbol], SHARPNESS));
        double left = random.nextDouble() * Arrays.stream(weights).sum();
        for (int symbol = 0; symbol < weights.length; symbol++) {
            left -= weights[symbol];
            if (left < 0) {
                return symbol;
            }
        }
        return weights.length - 1;
    }
}
