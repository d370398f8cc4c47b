package ferro.examples.textmodel;

import ferro.DataType;
import ferro.training.Parameter;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The sizes of a model. The parameters are in one flat array, in this order: embedding, hidden weights and bias, output
 * weights and bias.
 *
 * @param symbols   size of the vocabulary
 * @param context   number of symbols before the predicted symbol
 * @param embedding number of values that represent one symbol
 * @param hidden    number of units of the hidden layer
 */
record Shape(int symbols, int context, int embedding, int hidden) {
    /** Returns a shape that has half a million parameters for the usual 100 symbols. */
    static Shape of(Vocabulary vocabulary) {
        return new Shape(vocabulary.size(), 16, 32, 800);
    }

    int inputs() {
        return context * embedding;
    }

    int embeddingCount() {
        return symbols * embedding;
    }

    /** Returns the parameters in the order of the flat array, which is the order of the forward pass. */
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
     * Returns random initial parameters. The hidden weights keep the scale of the activations (He et al. 2015,
     * arXiv:1502.01852). The output weights are small, so that the first loss is the loss of guessing. The biases are
     * zero.
     *
     * @param seed seed of the random numbers
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
