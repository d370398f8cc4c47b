package ferro.examples.textmodel;

import ferro.DataType;
import ferro.training.Parameter;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The sizes of a model; its parameters are in one flat array: embedding, hidden weights and bias, output weights and bias.
 *
 * @param symbols   size of the vocabulary
 * @param context   symbols seen before the one predicted
 * @param embedding numbers that stand for one symbol
 * @param hidden    units of the hidden layer
 */
record Shape(int symbols, int context, int embedding, int hidden) {
    /** Returns a shape with half a million parameters for the usual hundred symbols. */
    static Shape of(Vocabulary vocabulary) {
        return new Shape(vocabulary.size(), 16, 32, 800);
    }

    int inputs() {
        return context * embedding;
    }

    int embeddingCount() {
        return symbols * embedding;
    }

    /** Returns the parameters in the order in which they lie in the flat array, which is that of the forward pass. */
    List<Parameter> parameters() {
        return List.of(
                Parameter.of("embedding.weight", DataType.FLOAT32, symbols, embedding),
                Parameter.of("hidden.weight", DataType.FLOAT32, inputs(), hidden),
                Parameter.of("hidden.bias", DataType.FLOAT32, hidden),
                Parameter.of("output.weight", DataType.FLOAT32, hidden, symbols),
                Parameter.of("output.bias", DataType.FLOAT32, symbols));
    }

    int parameterCount() {
        return embeddingCount() + (inputs() + 1) * hidden + (hidden + 1) * symbols;
    }

    /**
     * Draws initial parameters: weights that keep the scale of the activations (He et al. 2015, arXiv:1502.01852), small
     * weights at the output so that the first loss is that of guessing, no bias.
     *
     * @param seed of the drawing
     * @return parameters
     */
    float[] initialParameters(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        float[] parameters = new float[parameterCount()];
        int hiddenAt = embeddingCount();
        int outputAt = hiddenAt + (inputs() + 1) * hidden;
        fill(random, parameters, 0, embeddingCount(), 0.5);
        fill(random, parameters, hiddenAt, inputs() * hidden, Math.sqrt(2.0 / inputs()));
        fill(random, parameters, outputAt, hidden * symbols, 0.02);
        return parameters;
    }

    private static void fill(SplittableRandom random, float[] into, int from, int count, double deviation) {
        for (int i = from; i < from + count; i++) {
            into[i] = (float) (random.nextGaussian() * deviation);
        }
    }
}
