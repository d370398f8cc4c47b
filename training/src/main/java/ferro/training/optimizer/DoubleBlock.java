package ferro.training.optimizer;

import ferro.HostTensor;
import java.nio.ByteBuffer;
import java.nio.DoubleBuffer;

/** Blocks of f64. */
final class DoubleBlock extends ElementBlock {
    private final DoubleBuffer view;
    private final double[] values;

    DoubleBlock(HostTensor tensor) {
        view = tensor.memory() instanceof ByteBuffer
                ? tensor.buffer().asDoubleBuffer()
                : DoubleBuffer.wrap((double[]) tensor.memory(), (int) tensor.offset(), (int) tensor.elementCount())
                        .slice();
        values = new double[(int) Math.min(LENGTH, tensor.elementCount())];
    }

    private static double[] values(ElementBlock block) {
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
    void copy(ElementBlock other, int count) {
        System.arraycopy(values(other), 0, values, 0, count);
    }

    @Override
    void scale(double factor, int count) {
        double by = factor;
        double[] mine = values;
        for (int i = 0; i < count; i++) {
            mine[i] *= by;
        }
    }

    @Override
    void addScaled(double factor, ElementBlock other, int count) {
        double by = factor;
        double[] mine = values;
        double[] added = values(other);
        for (int i = 0; i < count; i++) {
            mine[i] += by * added[i];
        }
    }

    @Override
    void moveTowards(ElementBlock other, double weight, int count) {
        double[] mine = values;
        double[] goal = values(other);
        double part = weight;
        if (part < 0.5) {
            for (int i = 0; i < count; i++) {
                mine[i] += part * (goal[i] - mine[i]);
            }
        } else {
            double rest = 1 - part;
            for (int i = 0; i < count; i++) {
                mine[i] = goal[i] - (goal[i] - mine[i]) * rest;
            }
        }
    }

    @Override
    void addSquares(double factor, ElementBlock other, int count) {
        double by = factor;
        double[] mine = values;
        double[] added = values(other);
        for (int i = 0; i < count; i++) {
            mine[i] += by * added[i] * added[i];
        }
    }

    @Override
    void addRatio(AdamFactors factors, ElementBlock average, ElementBlock square, int count) {
        double factor = factors.factor;
        double correction = factors.correction;
        double epsilon = factors.epsilon;
        double[] mine = values;
        double[] averages = values(average);
        double[] squares = values(square);
        for (int i = 0; i < count; i++) {
            mine[i] += factor * averages[i] / (Math.sqrt(squares[i]) / correction + epsilon);
        }
    }

    @Override
    double squares(int count) {
        double[] mine = values;
        double first = 0;
        double second = 0;
        double third = 0;
        double fourth = 0;
        int i = 0;
        for (; i + 4 <= count; i += 4) { // four sums, because an addition must wait for the one before it
            first += mine[i] * mine[i];
            second += mine[i + 1] * mine[i + 1];
            third += mine[i + 2] * mine[i + 2];
            fourth += mine[i + 3] * mine[i + 3];
        }
        for (; i < count; i++) {
            first += mine[i] * mine[i];
        }
        return first + second + (third + fourth);
    }
}
