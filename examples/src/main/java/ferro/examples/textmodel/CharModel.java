package ferro.examples.textmodel;

import ferro.DataType;
import ferro.training.Parameter;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntConsumer;

/**
 * A language model that predicts the next symbol from the symbols before it, with an embedding, one hidden layer of rectified
 * units, and a softmax (Bengio et al. 2003, "A Neural Probabilistic Language Model"). For one thread.
 */
final class CharModel {
    /** Symbols before the predicted one, in the demo. */
    static final int CONTEXT = 16;

    /** The sizes of a model: symbols, symbols before the predicted one, values per symbol, and units of the hidden layer. */
    record Shape(int symbols, int context, int embedding, int hidden) {
        int inputs() {
            return context * embedding;
        }

        /** Returns the parameters in the order of the forward pass. */
        List<Parameter> parameters() {
            return List.of(
                    Parameter.of("embedding.weight", DataType.FLOAT32, symbols, embedding),
                    Parameter.of("hidden.weight", DataType.FLOAT32, inputs(), hidden),
                    Parameter.of("hidden.bias", DataType.FLOAT32, 1, hidden),
                    Parameter.of("output.weight", DataType.FLOAT32, hidden, symbols),
                    Parameter.of("output.bias", DataType.FLOAT32, 1, symbols));
        }

        long parameterCount() {
            return parameters().stream().mapToLong(Parameter::elementCount).sum();
        }

        List<float[][]> matrices() {
            return parameters().stream()
                    .map(each -> new float[(int) each.shape()[0]][(int) each.shape()[1]])
                    .toList();
        }
    }

    final List<float[][]> parameters;
    final List<float[][]> gradients;
    private final Shape shape;
    private final Layer hiddenLayer;
    private final Layer outputLayer;
    private final float[][] input;
    private final float[][] hidden;
    private final float[][] output;
    private final float[][] inputGradient;
    private final float[][] hiddenGradient;

    /** Creates a model without parameters, for calls of at most so many samples. */
    CharModel(Shape shape, int maxSamples) {
        this.shape = shape;
        parameters = shape.matrices();
        gradients = shape.matrices();
        hiddenLayer = new Layer(1, maxSamples);
        outputLayer = new Layer(3, maxSamples);
        input = new float[maxSamples][shape.inputs()];
        hidden = new float[maxSamples][shape.hidden()];
        output = new float[maxSamples][shape.symbols()];
        inputGradient = new float[maxSamples][shape.inputs()];
        hiddenGradient = new float[maxSamples][shape.hidden()];
    }

    /** A fully connected layer, {@code output = input x weight + bias}. */
    private final class Layer {
        private final int weight;
        private final float[][] weightTurned;
        private final float[][] inputTurned;

        /** Creates the layer of parameter {@code weight} and the bias behind it. */
        Layer(int weight, int maxSamples) {
            this.weight = weight;
            float[][] rows = parameters.get(weight);
            weightTurned = new float[rows[0].length][rows.length];
            inputTurned = new float[rows.length][maxSamples];
        }

        void forward(int samples, float[][] in, float[][] out) {
            float[][] weights = parameters.get(weight);
            for (int sample = 0; sample < samples; sample++) {
                System.arraycopy(parameters.get(weight + 1)[0], 0, out[sample], 0, out[sample].length);
            }
            MatrixProducts.multiplyAdd(out, samples, in, weights, weights.length);
        }

        /** Computes the gradients of weight, bias and input from the gradient of the output. */
        void backward(int samples, float[][] in, float[][] outGradient, float[][] inGradient) {
            float[][] weights = parameters.get(weight);
            clear(gradients.get(weight));
            clear(gradients.get(weight + 1));
            clear(inGradient);
            for (int sample = 0; sample < samples; sample++) {
                MatrixProducts.add(gradients.get(weight + 1)[0], 1, outGradient[sample]);
            }
            MatrixProducts.transpose(in, samples, inputTurned);
            MatrixProducts.multiplyAdd(gradients.get(weight), weights.length, inputTurned, outGradient, samples);
            MatrixProducts.transpose(weights, weights.length, weightTurned);
            MatrixProducts.multiplyAdd(inGradient, samples, outGradient, weightTurned, weightTurned.length);
        }
    }

    Shape shape() {
        return shape;
    }

    /**
     * Draws the first parameters. The hidden weights keep the scale of the activations (He et al. 2015, arXiv:1502.01852). The
     * output weights are small, so that the first loss is the loss of guessing.
     */
    void draw(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        double[] deviations = {0.5, Math.sqrt(2.0 / shape.inputs()), 0, 0.02, 0};
        for (int index : new int[] {0, 1, 3}) { // biases are zero
            for (float[] row : parameters.get(index)) {
                for (int i = 0; i < row.length; i++) {
                    row[i] = (float) (random.nextGaussian() * deviations[index]);
                }
            }
        }
    }

    private static void clear(float[][] rows) {
        for (float[] row : rows) {
            Arrays.fill(row, 0);
        }
    }

    /**
     * Computes the sum of the samples' cross-entropies, times {@code scale}, and its gradients. A sample is the index of its
     * first symbol. Calls {@code ready} with the index of each parameter as soon as its gradient is complete, the last first.
     */
    double lossAndGradients(byte[] text, int[] starts, float scale, IntConsumer ready) {
        forward(text, starts);
        double loss = 0;
        for (int sample = 0; sample < starts.length; sample++) {
            int target = text[starts[sample] + shape.context()];
            float[] probabilities = output[sample];
            loss -= Math.log(Math.max(probabilities[target], Float.MIN_NORMAL));
            probabilities[target] -= 1;
            for (int symbol = 0; symbol < probabilities.length; symbol++) {
                probabilities[symbol] *= scale;
            }
        }
        outputLayer.backward(starts.length, hidden, output, hiddenGradient);
        ready.accept(4);
        ready.accept(3);
        for (int sample = 0; sample < starts.length; sample++) {
            for (int unit = 0; unit < shape.hidden(); unit++) {
                hiddenGradient[sample][unit] *= hidden[sample][unit] > 0 ? 1 : 0;
            }
        }
        hiddenLayer.backward(starts.length, input, hiddenGradient, inputGradient);
        ready.accept(2);
        ready.accept(1);
        clear(gradients.get(0));
        for (int sample = 0; sample < starts.length; sample++) {
            for (int i = 0; i < shape.inputs(); i++) {
                int symbol = text[starts[sample] + i / shape.embedding()];
                gradients.get(0)[symbol][i % shape.embedding()] += inputGradient[sample][i];
            }
        }
        ready.accept(0);
        return loss * scale;
    }

    private void forward(byte[] text, int[] starts) {
        for (int sample = 0; sample < starts.length; sample++) {
            for (int position = 0; position < shape.context(); position++) {
                float[] symbol = parameters.get(0)[text[starts[sample] + position]];
                System.arraycopy(symbol, 0, input[sample], position * symbol.length, symbol.length);
            }
        }
        hiddenLayer.forward(starts.length, input, hidden);
        for (int sample = 0; sample < starts.length; sample++) {
            for (int unit = 0; unit < shape.hidden(); unit++) {
                hidden[sample][unit] = Math.max(hidden[sample][unit], 0);
            }
        }
        outputLayer.forward(starts.length, hidden, output);
        for (int sample = 0; sample < starts.length; sample++) {
            softmax(output[sample]);
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
}
