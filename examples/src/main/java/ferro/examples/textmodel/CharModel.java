package ferro.examples.textmodel;

import java.util.Arrays;
import java.util.function.IntConsumer;

/**
 * A language model that predicts the next symbol from the symbols before it. The model has an embedding, one hidden
 * layer of rectified units, and a softmax (Bengio et al. 2003, "A Neural Probabilistic Language Model"). Instances are
 * not thread-safe, because each call reuses the memory of the instance.
 */
final class CharModel {
    private final Shape shape;
    private final int maxSamples;
    private final float[][] embedding;
    private final float[][] embeddingGradient;
    private final Dense hiddenLayer;
    private final Dense outputLayer;
    private final float[][] input;
    private final float[][] hidden;
    private final float[][] output;
    private final float[][] inputGradient;
    private final float[][] hiddenGradient;

    /**
     * Creates a model without parameters. {@link #load} sets the parameters.
     *
     * @param shape       sizes of the model
     * @param maxSamples largest number of samples of one call
     */
    CharModel(Shape shape, int maxSamples) {
        this.shape = shape;
        this.maxSamples = maxSamples;
        embedding = new float[shape.symbols()][shape.embedding()];
        embeddingGradient = new float[shape.symbols()][shape.embedding()];
        hiddenLayer = new Dense(shape.inputs(), shape.hidden(), maxSamples);
        outputLayer = new Dense(shape.hidden(), shape.symbols(), maxSamples);
        input = new float[maxSamples][shape.inputs()];
        hidden = new float[maxSamples][shape.hidden()];
        output = new float[maxSamples][shape.symbols()];
        inputGradient = new float[maxSamples][shape.inputs()];
        hiddenGradient = new float[maxSamples][shape.hidden()];
    }

    Shape shape() {
        return shape;
    }

    /**
     * Copies parameters. The model does not keep the array.
     *
     * @param parameters parameters in the order of {@link Shape}
     */
    void load(float[] parameters) {
        int hiddenAt = Rows.read(parameters, 0, embedding);
        int outputAt = hiddenLayer.load(parameters, hiddenAt);
        outputLayer.load(parameters, outputAt);
    }

    /**
     * Computes the loss of some samples and the gradient of that loss.
     *
     * @param text     symbols
     * @param starts   index of the first symbol of each sample's context; the model predicts the symbol after the
     *     context
     * @param scale    factor of loss and gradient
     * @param gradient result, in the order of the parameters; the array may be longer
     * @param ready    consumer that is called with the index of each of the {@link Shape#parameters} as soon as its
     *     gradient is complete, from the last parameter to the first
     * @return sum of the samples' cross-entropies (natural logarithm), times {@code scale}
     */
    double lossAndGradient(byte[] text, int[] starts, float scale, float[] gradient, IntConsumer ready) {
        int samples = starts.length;
        forward(text, starts);
        double loss = 0;
        for (int sample = 0; sample < samples; sample++) {
            int target = text[starts[sample] + shape.context()];
            float[] probabilities = output[sample];
            loss -= Math.log(Math.max(probabilities[target], Float.MIN_NORMAL));
            probabilities[target] -= 1;
            for (int symbol = 0; symbol < probabilities.length; symbol++) {
                probabilities[symbol] *= scale;
            }
        }
        backward(text, starts, gradient, ready);
        return loss * scale;
    }

    private void backward(byte[] text, int[] starts, float[] gradient, IntConsumer ready) {
        int samples = starts.length;
        int hiddenAt = shape.embeddingCount();
        outputLayer.backward(samples, hidden, output, hiddenGradient);
        outputLayer.store(gradient, hiddenAt + (shape.inputs() + 1) * shape.hidden());
        ready.accept(4);
        ready.accept(3);
        closeWhereUnitsWereOff(samples);
        hiddenLayer.backward(samples, input, hiddenGradient, inputGradient);
        hiddenLayer.store(gradient, hiddenAt);
        ready.accept(2);
        ready.accept(1);
        spreadToSymbols(text, starts);
        Rows.write(embeddingGradient, gradient, 0);
        ready.accept(0);
    }

    /**
     * Predicts the next symbol.
     *
     * @param context the last symbols, exactly as many as the shape's context
     * @return probability of each symbol; overwritten by the next call
     */
    float[] probabilities(byte[] context) {
        forward(context, new int[] {0});
        return output[0];
    }

    private void forward(byte[] text, int[] starts) {
        if (starts.length > maxSamples) {
            throw new IllegalArgumentException(
                    "need at most " + maxSamples + " samples per call of this model, found " + starts.length);
        }
        int width = shape.embedding();
        for (int sample = 0; sample < starts.length; sample++) {
            for (int position = 0; position < shape.context(); position++) {
                int symbol = text[starts[sample] + position];
                System.arraycopy(embedding[symbol], 0, input[sample], position * width, width);
            }
        }
        hiddenLayer.forward(starts.length, input, hidden);
        for (int sample = 0; sample < starts.length; sample++) {
            rectify(hidden[sample]);
        }
        outputLayer.forward(starts.length, hidden, output);
        for (int sample = 0; sample < starts.length; sample++) {
            softmax(output[sample]);
        }
    }

    private static void rectify(float[] values) {
        for (int i = 0; i < values.length; i++) {
            values[i] = Math.max(values[i], 0);
        }
    }

    /** Computes the softmax. The largest value is subtracted first, so that no power overflows. */
    private static void softmax(float[] values) {
        float largest = Float.NEGATIVE_INFINITY;
        for (float value : values) {
            largest = Math.max(largest, value);
        }
        float sum = 0;
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) Math.exp(values[i] - largest);
            sum += values[i];
        }
        for (int i = 0; i < values.length; i++) {
            values[i] /= sum;
        }
    }

    private void closeWhereUnitsWereOff(int samples) {
        for (int sample = 0; sample < samples; sample++) {
            float[] units = hidden[sample];
            float[] gradient = hiddenGradient[sample];
            for (int unit = 0; unit < units.length; unit++) {
                gradient[unit] = units[unit] > 0 ? gradient[unit] : 0;
            }
        }
    }

    private void spreadToSymbols(byte[] text, int[] starts) {
        for (float[] row : embeddingGradient) {
            Arrays.fill(row, 0);
        }
        for (int sample = 0; sample < starts.length; sample++) {
            int at = 0;
            for (int position = 0; position < shape.context(); position++) {
                float[] row = embeddingGradient[text[starts[sample] + position]];
                for (int i = 0; i < row.length; i++) {
                    row[i] += inputGradient[sample][at++];
                }
            }
        }
    }
}
