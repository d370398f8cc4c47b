package ferro.training.optimizer;

import ferro.HostTensor;
import java.nio.ByteBuffer;
import java.nio.DoubleBuffer;

/** Blocks of f64. */
final class DoubleBlock extends BlockBuffer {
    private final DoubleBuffer view;
    private final double[] values;

    DoubleBlock(HostTensor tensor) {
        view = tensor.memory() instanceof ByteBuffer
                ? tensor.buffer().asDoubleBuffer()
                : DoubleBuffer.wrap((double[]) tensor.memory(), (int) tensor.offset(), (int) tensor.elementCount())
                        .slice();
        values = new double[(int) Math.min(LENGTH, tensor.elementCount())];
    }

    private static double[] values(BlockBuffer block) {
        return ((DoubleBlock) block).values;
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
        double by = factor;
        double[] own = values;
        for (int i = 0; i < count; i++) {
            own[i] *= by;
        }
    }

    @Override
    void addScaled(double factor, BlockBuffer other, int count) {
        double by = factor;
        double[] own = values;
        double[] added = values(other);
        for (int i = 0; i < count; i++) {
            own[i] += by * added[i];
        }
    }

    @Override
    void moveTowards(BlockBuffer other, double weight, int count) {
        double[] own = values;
        double[] goal = values(other);
        double part = weight;
        if (part < 0.5) {
            for (int i = 0; i < count; i++) {
                own[i] += part * (goal[i] - own[i]);
            }
        } else {
            double rest = 1 - part;
            for (int i = 0; i < count; i++) {
                own[i] = goal[i] - (goal[i] - own[i]) * rest;
            }
        }
    }

    @Override
    void addSquares(double factor, BlockBuffer other, int count) {
        double by = factor;
        double[] own = values;
        double[] added = values(other);
        for (int i = 0; i < count; i++) {
            own[i] += by * added[i] * added[i];
        }
    }

    @Override
    void addRatio(AdamFactors factors, BlockBuffer average, BlockBuffer square, int count) {
        double factor = factors.factor;
        double correction = factors.correction;
        double epsilon = factors.epsilon;
        double[] own = values;
        double[] averages = values(average);
        double[] squares = values(square);
        for (int i = 0; i < count; i++) {
            own[i] += factor * averages[i] / (Math.sqrt(squares[i]) / correction + epsilon);
        }
    }

    @Override
    double squares(int count) {
        double[] own = values;
        double first = 0;
        double second = 0;
        double third = 0;
        double fourth = 0;
        int i = 0;
        for (; i + 4 <= count; i += 4) { // four sums, because an addition must wait for the previous addition
            first += own[i] * own[i];
            second += own[i + 1] * own[i + 1];
            third += own[i + 2] * own[i + 2];
            fourth += own[i + 3] * own[i + 3];
        }
        for (; i < count; i++) {
            first += own[i] * own[i];
        }
        return first + second + (third + fourth);
    }
}
