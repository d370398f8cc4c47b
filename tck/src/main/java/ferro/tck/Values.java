package ferro.tck;

import ferro.DataType;
import ferro.ReduceOp;
import java.util.List;
import java.util.Random;

/**
 * Inputs of every rank and the answers a plain loop gives.
 *
 * <p>No element is an identity: at every index SUM, PRODUCT, MIN, MAX and AVG differ from each other, the first, second
 * and last of them from every rank's input, and leaving any rank out changes SUM and PRODUCT. The values are searched
 * for, not hoped for; signs differ, so that MIN and MAX need a signed compare.
 */
final class Values {
    /** Prime, so that no border of a chunk or segment keeps falling on the same place. */
    static final int PERIOD = 61;

    private static final List<ReduceOp> OPS =
            List.of(ReduceOp.SUM, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX, ReduceOp.AVG);
    private static final int TRIALS = 10_000;

    private final DataType type;
    private final int worldSize;
    private final long[][] inputs = new long[PERIOD][];

    Values(DataType type, int worldSize) {
        this.type = type;
        this.worldSize = worldSize;
        for (int index = 0; index < PERIOD; index++) {
            inputs[index] = search(index);
        }
    }

    /** What a rank gives to a reduction. */
    long input(int rank, long index) {
        return inputs[(int) (index % PERIOD)][rank];
    }

    /** What a rank gives to a collective that only moves: tells ranks and neighbouring places apart. */
    long mark(int rank, long index) {
        long number = 11 + rank * 37L + (index % 251) * 5;
        return Numbers.isFloating(type) ? Numbers.ofDouble(type, number * 0.5) : Numbers.narrow(type, number);
    }

    /** Returns what is wrong with a combined element, or null. */
    String wrong(ReduceOp op, long index, long found) {
        long[] operands = inputs[(int) (index % PERIOD)];
        if (!Numbers.isFloating(type)) {
            long right = whole(op, operands, -1);
            return found == right ? null : "need " + right + ", found " + found;
        }
        double right = real(op, operands, -1);
        double value = Numbers.toDouble(type, found);
        boolean near = Math.abs(value - right) <= tolerance(op, operands, right);
        return near ? null : "need " + right + ", found " + value;
    }

    private double tolerance(ReduceOp op, long[] operands, double right) {
        double unit = type == DataType.FLOAT32 ? 0x1p-23 : 0x1p-52;
        double scale = Math.abs(right);
        if (op == ReduceOp.MIN || op == ReduceOp.MAX) {
            return 0;
        }
        if (op != ReduceOp.PRODUCT) {
            scale = 0;
            for (long operand : operands) {
                scale += Math.abs(Numbers.toDouble(type, operand));
            }
        }
        return unit * scale * operands.length;
    }

    private long[] search(int index) {
        Random random = new Random(31L * index + worldSize);
        for (int trial = 0; trial < TRIALS; trial++) {
            long[] operands = new long[worldSize];
            for (int rank = 0; rank < worldSize; rank++) {
                operands[rank] = draw(random);
            }
            if (tells(operands)) {
                return operands;
            }
        }
        throw new IllegalStateException("no values tell the ops of " + type.label() + " apart at world size "
                + worldSize + ", index " + index + ": widen the numbers drawn");
    }

    private long draw(Random random) {
        if (Numbers.isFloating(type)) {
            double size = 1.5 + random.nextInt(48_000) / 1024.0 / 3.0;
            return Numbers.ofDouble(type, random.nextInt(4) == 0 ? -size : size);
        }
        // odd, so that products that wrap never reach zero
        long size = 3 + 2L * random.nextInt(24);
        return Numbers.narrow(type, random.nextInt(4) == 0 ? -size : size);
    }

    private boolean tells(long[] operands) {
        if (worldSize == 1) {
            return true;
        }
        for (int first = 0; first < OPS.size(); first++) {
            for (int second = 0; second < first; second++) {
                if (same(answer(OPS.get(first), operands, -1), answer(OPS.get(second), operands, -1))) {
                    return false;
                }
            }
        }
        for (int rank = 0; rank < worldSize; rank++) {
            if (hides(operands, rank)) {
                return false;
            }
        }
        return true;
    }

    /** Whether a wrong answer about one rank could pass for a right one. */
    private boolean hides(long[] operands, int rank) {
        double own = Numbers.toDouble(type, operands[rank]);
        double sum = answer(ReduceOp.SUM, operands, -1);
        double product = answer(ReduceOp.PRODUCT, operands, -1);
        boolean twin = false;
        for (int other = 0; other < rank; other++) {
            twin |= same(own, Numbers.toDouble(type, operands[other]));
        }
        return twin
                || same(own, sum)
                || same(own, product)
                || same(own, answer(ReduceOp.AVG, operands, -1))
                || same(sum, answer(ReduceOp.SUM, operands, rank))
                || same(product, answer(ReduceOp.PRODUCT, operands, rank));
    }

    private double answer(ReduceOp op, long[] operands, int leftOut) {
        boolean whole = !Numbers.isFloating(type) && op != ReduceOp.AVG;
        return whole ? whole(op, operands, leftOut) : real(op, operands, leftOut);
    }

    private long whole(ReduceOp op, long[] operands, int leftOut) {
        int start = leftOut == 0 ? 1 : 0;
        long result = operands[start];
        for (int rank = start + 1; rank < operands.length; rank++) {
            if (rank != leftOut) {
                result = Numbers.combine(type, op, result, operands[rank]);
            }
        }
        return result;
    }

    private double real(ReduceOp op, long[] operands, int leftOut) {
        int start = leftOut == 0 ? 1 : 0;
        double result = Numbers.toDouble(type, operands[start]);
        for (int rank = start + 1; rank < operands.length; rank++) {
            if (rank != leftOut) {
                result = Numbers.combine(op, result, Numbers.toDouble(type, operands[rank]));
            }
        }
        return op == ReduceOp.AVG ? result / operands.length : result;
    }

    private static boolean same(double left, double right) {
        return Math.abs(left - right) <= 0.001 * Math.max(Math.abs(left), Math.abs(right));
    }
}
