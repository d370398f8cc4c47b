package ferro.examples.textmodel;

import java.util.Arrays;

/** One fully connected layer, {@code output = input x weights + bias}, with the gradients of its last batch. */
final class Dense {
    private final float[][] weights;
    private final float[] bias;
    private final float[][] weightGradient;
    private final float[] biasGradient;

    /** A transposed copy of the weights, so that all three products run along rows. */
    private final float[][] weightsTurned;

    private final float[][] inputTurned;

    Dense(int inputs, int outputs, int maxSamples) {
        weights = new float[inputs][outputs];
        bias = new float[outputs];
        weightGradient = new float[inputs][outputs];
        biasGradient = new float[outputs];
        weightsTurned = new float[outputs][inputs];
        inputTurned = new float[inputs][maxSamples];
    }

    /** Copies weights and bias from a flat array. Returns the index after the bias. */
    int load(float[] parameters, int offset) {
        int biasAt = Rows.read(parameters, offset, weights);
        System.arraycopy(parameters, biasAt, bias, 0, bias.length);
        Rows.transpose(weights, weights.length, weightsTurned);
        return biasAt + bias.length;
    }

    /**
     * Writes the gradients to a flat array, at the indices of their parameters. Returns the index after the gradients.
     */
    int store(float[] gradient, int offset) {
        int biasAt = Rows.write(weightGradient, gradient, offset);
        System.arraycopy(biasGradient, 0, gradient, biasAt, biasGradient.length);
        return biasAt + biasGradient.length;
    }

    void forward(int samples, float[][] input, float[][] output) {
        for (int sample = 0; sample < samples; sample++) {
            System.arraycopy(bias, 0, output[sample], 0, bias.length);
        }
        Rows.multiplyAdd(output, samples, input, weights, weights.length);
    }

    /**
     * Computes the gradients of weights, bias and input from the gradient of the output.
     *
     * @param samples        number of rows in use
     * @param input          input of the last call of {@code forward}
     * @param outputGradient gradient of the output, by sample
     * @param inputGradient  gradient of the input, which is the result
     */
    void backward(int samples, float[][] input, float[][] outputGradient, float[][] inputGradient) {
        Arrays.fill(biasGradient, 0);
        for (int sample = 0; sample < samples; sample++) {
            float[] row = outputGradient[sample];
            for (int j = 0; j < row.length; j++) {
                biasGradient[j] += row[j];
            }
            Arrays.fill(inputGradient[sample], 0);
        }
        Rows.clear(weightGradient);
        Rows.transpose(input, samples, inputTurned);
        Rows.multiplyAdd(weightGradient, weights.length, inputTurned, outputGradient, samples);
        Rows.multiplyAdd(inputGradient, samples, outputGradient, weightsTurned, bias.length);
    }
}
