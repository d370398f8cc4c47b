package ferro.training.optimizer;

import ferro.HostTensor;
import java.nio.ByteBuffer;
import java.nio.FloatBuffer;

/** Blocks of f32. */
final class FloatBlock extends BlockBuffer {
    private final FloatBuffer view;
    private final float[] values;

    FloatBlock(HostTensor tensor) {
        view = tensor.memory() instanceof ByteBuffer
                ? tensor.buffer().asFloatBuffer()
                : FloatBuffer.wrap((float[]) tensor.memory(), (int) tensor.offset(), (int) tensor.elementCount())
                        .slice();
        values = new float[(int) Math.min(LENGTH, tensor.elementCount())];
    }

    private static float[] values(BlockBuffer block) {
        return ((FloatBlock) block).values;
    }

    @Override
    void read(int from, int count) {
        view.get(from, values, 0, count);
    }

    @Override
    void write(int from, int count) {
        view.put(from, values, 0, count);
    }

    @Override
    void copy(BlockBuffer other, int count) {
        System.arraycopy(values(other), 0, values, 0, count);
    }

    @Override
    void scale(double factor, int count) {
        float by = (float) factor;
        float[] own = values;
        for (int i = 0; i < count; i++) {
            own[i] *= by;
        }
    }

    @Override
    void addScaled(double factor, BlockBuffer other, int count) {
        float by = (float) factor;
        float[] own = values;
        float[] added = values(other);
        for (int i = 0; i < count; i++) {
            own[i] += by * added[i];
        }
    }

    @Override
    void moveTowards(BlockBuffer other, double weight, int count) {
        float[] own = values;
        float[] goal = values(other);
        float part = (float) weight;
        if (part < 0.5) {
            for (int i = 0; i < count; i++) {
                own[i] += part * (goal[i] - own[i]);
            }
        } else {
            float rest = 1 - part;
            for (int i = 0; i < count; i++) {
                own[i] = goal[i] - (goal[i] - own[i]) * rest;
            }
        }
    }

    @Override
    void addSquares(double factor, BlockBuffer other, int count) {
        float by = (float) factor;
        float[] own = values;
        float[] added = values(other);
        for (int i = 0; i < count; i++) {
            own[i] += by * added[i] * added[i];
        }
    }

    @Override
    void addRatio(AdamFactors factors, BlockBuffer average, BlockBuffer square, int count) {
        float factor = (float) factors.factor;
        float correction = (float) factors.correction;
        float epsilon = (float) factors.epsilon;
        float[] own = values;
        float[] averages = values(average);
        float[] squares = values(square);
        for (int i = 0; i < count; i++) {
            own[i] += factor * averages[i] / ((float) Math.sqrt(squares[i]) / correction + epsilon);
        }
    }

    @Override
    double squares(int count) {
        float[] own = values;
        double first = 0;
        double second = 0;
        double third = 0;
        double fourth = 0;
        int i = 0;
        for (; i + 4 <= count; i += 4) { // four sums, because an addition must wait for the previous addition
            first += (double) own[i] * own[i];
            second += (double) own[i + 1] * own[i + 1];
            third += (double) own[i + 2] * own[i + 2];
            fourth += (double) own[i + 3] * own[i + 3];
        }
        for (; i < count; i++) {
            first += (double) own[i] * own[i];
        }
        return first + second + (third + fourth);
    }
}
