package ferro.tck;

import ferro.DataType;
import ferro.ReduceOp;
import java.math.BigInteger;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntToLongFunction;
import java.util.stream.Stream;

/**
 * Inputs of every rank and the answers a plain loop gives.
 *
 * <p>No element is an identity: at every index SUM, PRODUCT, MIN, MAX and AVG differ from each other, the first, second
 * and last of them from every rank's input, and leaving any rank out changes SUM and PRODUCT, by more than rounding may.
 * The values are searched for, not hoped for; signs differ, so that MIN and MAX need a signed compare, or an unsigned one for
 * unsigned types, at every index.
 *
 * <p>Of four neighbouring indices of an integer type one has a negative sum that does not divide evenly, so that its average
 * tells toward zero from downward, and two have sums that the type cannot hold, one on each side of zero where it has two.
 */
final class Values {
    /** Prime, so that no border of a chunk or segment keeps falling on the same place. */
    static final int PERIOD = 61;

    private static final List<ReduceOp> OPS =
            List.of(ReduceOp.SUM, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX, ReduceOp.AVG);
    private static final int TRIALS = 10_000;

    /** After how many places marks repeat. */
    private static final int MARKS = 251;

    private final DataType type;
    private final int worldSize;
    private final long[][] inputs = new long[PERIOD][];
    private final Map<ReduceOp, Need.Answer> rights = new ConcurrentHashMap<>();

    Values(DataType type, int worldSize) {
        this.type = type;
        this.worldSize = worldSize;
        for (int index = 0; index < PERIOD; index++) {
            inputs[index] = search(index);
        }
    }

    /** What a rank gives to a reduction. */
    long input(int rank, int index) {
        return inputs[index % PERIOD][rank];
    }

    /** What a rank gives to a collective that only moves: tells ranks and neighbouring places apart. */
    long mark(int rank, int index) {
        int number = 11 + rank * 37 + index % MARKS * 5;
        // of a half the bits are counted: as numbers these would not all fit
        boolean real = Numbers.isFloating(type) && !Numbers.isHalf(type);
        return real ? Numbers.ofDouble(type, number * 0.5) : Numbers.narrow(type, number);
    }

    /** What a rank gives to a reduction of so many elements. */
    long[] inputs(int rank, int count) {
        return repeated(PERIOD, count, index -> input(rank, index));
    }

    /** So many marks of a rank, from an index on. */
    long[] marks(int rank, int from, int count) {
        return repeated(MARKS, count, index -> mark(rank, from + index));
    }

    private static long[] repeated(int period, int count, IntToLongFunction byIndex) {
        long[] all = new long[count];
        for (int index = 0; index < Math.min(period, count); index++) {
            all[index] = byIndex.applyAsLong(index);
        }
        for (int done = period; done < count; done *= 2) {
            System.arraycopy(all, 0, all, done, Math.min(done, count - done));
        }
        return all;
    }

    /** Returns what tells whether an element that an op has combined is right. */
    Need.Answer right(ReduceOp op) {
        return rights.computeIfAbsent(op, this::plainLoop);
    }

    /** Returns what tells whether elements that an op has combined are right, the first of which has an index. */
    Need right(ReduceOp op, int from) {
        return Need.repeating(right(op), PERIOD, from);
    }

    /** Runs it once for every index: rules ask for each of millions of elements. */
    private Need.Answer plainLoop(ReduceOp op) {
        if (!Numbers.isFloating(type)) {
            long[] rights = Stream.of(inputs)
                    .mapToLong(operands -> whole(op, operands, -1))
                    .toArray();
            return (index, found) -> {
                long right = rights[index % PERIOD];
                return found == right
                        ? null
                        : "need " + Numbers.show(type, right) + ", found " + Numbers.show(type, found);
            };
        }
        Near[] rights =
                Stream.of(inputs).map(operands -> answer(op, operands, -1)).toArray(Near[]::new);
        return (index, found) -> {
            Near right = rights[index % PERIOD];
            double value = Numbers.toDouble(type, found);
            boolean near = Math.abs(value - right.value) <= right.off;
            return near ? null : "need " + right.value + ", found " + value;
        };
    }

    /**
     * How far from the plain loop's answer an element may be: n - 1 roundings, and two more for an average that multiplies
     * by a rounded 1/n first, as NCCL's does. In f64 the plain loop rounds as often.
     *
     * <p>Source: gamma of n roundings in Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 3.1.
     */
    private double tolerance(ReduceOp op, long[] operands, int leftOut) {
        if (!Numbers.isFloating(type) || op == ReduceOp.MIN || op == ReduceOp.MAX) {
            return 0;
        }
        int roundings = (operands.length + 1) * (type == DataType.FLOAT64 ? 2 : 1);
        double relative = roundings * Numbers.roundoff(type) / (1 - roundings * Numbers.roundoff(type));
        if (op == ReduceOp.PRODUCT) {
            return relative * Math.abs(real(op, operands, leftOut));
        }
        double scale = 0;
        for (long operand : operands) {
            scale += Math.abs(Numbers.toDouble(type, operand));
        }
        return relative * (op == ReduceOp.AVG ? scale / operands.length : scale);
    }

    private long[] search(int index) {
        Random random = new Random(31L * index + worldSize);
        for (int trial = 0; trial < TRIALS; trial++) {
            long[] operands = new long[worldSize];
            for (int rank = 0; rank < worldSize; rank++) {
                operands[rank] = Numbers.isFloating(type) ? draw(random) : whole(random, rank, Sum.of(index));
            }
            if (tells(operands) && isAsSought(operands, Sum.of(index))) {
                return operands;
            }
        }
        throw new IllegalStateException("no values tell the ops of " + type.label() + " apart at world size "
                + worldSize + ", index " + index + ": widen the numbers drawn");
    }

    private long draw(Random random) {
        if (Numbers.isHalf(type)) {
            // far from 1 beside the rounding of bf16; eight of them multiply to less than the 65504 of f16
            double size = 1.375 + random.nextInt(256) / 128.0;
            return Numbers.ofDouble(type, random.nextInt(4) == 0 ? -size : size);
        }
        if (Numbers.isFloating(type)) {
            double size = 1.5 + random.nextInt(48_000) / 1024.0 / 3.0;
            return Numbers.ofDouble(type, random.nextInt(4) == 0 ? -size : size);
        }
        throw new IllegalArgumentException(type.label() + " is no floating-point type");
    }

    /** What is sought of the sum of integers at an index. */
    private enum Sum {
        /** Below zero, and no multiple of the world size. */
        NEGATIVE,
        /** Above what the type can hold. */
        ABOVE,
        /** Nothing. */
        ANY,
        /** Below what the type can hold; of an unsigned one above. */
        BELOW;

        static Sum of(int index) {
            return values()[index % values().length];
        }
    }

    /** Odd, so that products that wrap do not reach zero; but for one, as two odd numbers never leave a half. */
    private long whole(Random random, int rank, Sum sought) {
        boolean large = sought == Sum.ABOVE || sought == Sum.BELOW;
        // the upper half of what a signed element holds
        long quarter = 1L << Byte.SIZE * type.byteSize() - 2;
        long size = large ? quarter + (random.nextLong() & quarter - 1 | 1) : 3 + 2L * random.nextInt(24);
        boolean even = rank == 0 && (sought == Sum.NEGATIVE || sought == Sum.BELOW);
        int negativeOfEight = Numbers.isUnsigned(type) ? 4 : List.of(6, 1, 2, 7).get(sought.ordinal());
        long element = even ? size - 1 : size;
        return Numbers.narrow(type, random.nextInt(8) < negativeOfEight ? -element : element);
    }

    private boolean isAsSought(long[] operands, Sum sought) {
        if (worldSize == 1 || Numbers.isFloating(type) || sought == Sum.ANY) {
            return true;
        }
        BigInteger sum = Numbers.exactSum(type, operands);
        boolean fits =
                Numbers.exact(type, Numbers.narrow(type, sum.longValue())).equals(sum);
        if (Numbers.isUnsigned(type)) {
            return sought == Sum.NEGATIVE || !fits;
        }
        boolean leaves = sum.mod(BigInteger.valueOf(worldSize)).signum() != 0;
        return switch (sought) {
            case NEGATIVE -> fits && sum.signum() < 0 && leaves;
            case ABOVE -> !fits && sum.signum() > 0;
            default -> !fits && sum.signum() < 0 && leaves;
        };
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
        return !Numbers.isUnsigned(type) || signBitsDiffer(operands);
    }

    /** Whether a signed compare would choose others than an unsigned one. */
    private static boolean signBitsDiffer(long[] operands) {
        long all = operands[0];
        long any = operands[0];
        for (long operand : operands) {
            all &= operand;
            any |= operand;
        }
        return all >= 0 && any < 0;
    }

    /** Whether a wrong answer about one rank could pass for a right one. */
    private boolean hides(long[] operands, int rank) {
        Near own = new Near(Numbers.toDouble(type, operands[rank]), 0);
        Near sum = answer(ReduceOp.SUM, operands, -1);
        Near product = answer(ReduceOp.PRODUCT, operands, -1);
        boolean twin = false;
        for (int other = 0; other < rank; other++) {
            twin |= same(own, new Near(Numbers.toDouble(type, operands[other]), 0));
        }
        return twin
                || same(own, sum)
                || same(own, product)
                || same(own, answer(ReduceOp.AVG, operands, -1))
                || same(sum, answer(ReduceOp.SUM, operands, rank))
                || same(product, answer(ReduceOp.PRODUCT, operands, rank));
    }

    private Near answer(ReduceOp op, long[] operands, int leftOut) {
        double value = Numbers.isFloating(type) ? real(op, operands, leftOut) : whole(op, operands, leftOut);
        return new Near(value, tolerance(op, operands, leftOut));
    }

    private long whole(ReduceOp op, long[] operands, int leftOut) {
        if (op == ReduceOp.AVG) {
            return Numbers.average(type, operands);
        }
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

    private static boolean same(Near left, Near right) {
        double larger = Math.max(Math.abs(left.value), Math.abs(right.value));
        return Math.abs(left.value - right.value) <= 0.001 * larger + left.off + right.off;
    }

    /** An answer, and how far off it may be. */
    private record Near(double value, double off) {}
}
